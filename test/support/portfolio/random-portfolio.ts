/** Cells drawn from good and bad values for each rule of the ledger, so that a file breaks every one of them somewhere. */
type Cells = Record<string, string>
type Draw = { random(): number; pick<T>(list: readonly T[]): T; chance(share: number): boolean }

export function drawWith(random: () => number): Draw {
  return {
    random,
    pick: list => list[Math.floor(random() * list.length)] as (typeof list)[number],
    chance: share => random() < share,
  }
}

const LENDERS = ['LENDER_01', 'LENDER_02', 'LENDER_03', 'LENDER_04', 'LENDER_05', 'LENDER_06']
const LOANS_PER_CLIENT = 2

/** The same number gives the same good row, so that later files name what earlier ones have written. */
function goodLoan(n: number): Cells {
  const client = Math.floor(n / LOANS_PER_CLIENT)
  return {
    client_external_id: `C-${client}`,
    client_lastname: `Rao ${client}`,
    client_mobile_no: client % 3 === 0 ? '' : `+9190000${String(client).padStart(5, '0')}`,
    client_activation_date: '2023-06-01',
    lender: LENDERS[n % LENDERS.length] as string,
    loan_external_id: `L-${String(n).padStart(3, '0')}`,
    principal: '12000.00',
    interest_rate_per_period: '12',
    loan_term_frequency: '12',
    number_of_repayments: n % LENDERS.length === 3 ? '6' : '12',
    submitted_on_date: '2024-01-10',
    approved_on_date: '2024-01-12',
    disbursed_on_date: '2024-01-12',
  }
}

const FUTURE = '2024-07-01'
const LOAN_FAULTS: Cells[] = [
  { principal: '50.00' },
  { principal: '999.99' },
  { principal: '20000.01' },
  { principal: '12000.50' },
  { principal: '99999999.00' },
  { loan_term_frequency: '2', number_of_repayments: '2' },
  { loan_term_frequency: '13', number_of_repayments: '13' },
  { loan_term_frequency: '12', number_of_repayments: '4' },
  { loan_term_frequency: '26', loan_term_frequency_type: 'weeks', number_of_repayments: '13' },
  { loan_term_frequency: '1', loan_term_frequency_type: 'years', number_of_repayments: '12' },
  { loan_term_frequency: '6', number_of_repayments: '3' },
  { interest_rate_per_period: '5.99' },
  { interest_rate_per_period: '40' },
  { interest_rate_per_period: '100.000001' },
  { submitted_on_date: FUTURE, approved_on_date: FUTURE, disbursed_on_date: FUTURE },
  { approved_on_date: FUTURE, disbursed_on_date: '2024-07-02' },
  { disbursed_on_date: FUTURE },
  { disbursed_on_date: '2024-01-15' },
  { submitted_on_date: '2023-06-02' },
  {
    submitted_on_date: '2024-05-02',
    approved_on_date: '2024-05-03',
    disbursed_on_date: '2024-05-03',
  },
  { approved_on_date: '', disbursed_on_date: '' },
  { disbursed_on_date: '' },
  { disbursed_amount: '11999.50' },
  { disbursed_amount: '6000.00', utr_payment_id: 'UTR-1' },
]
const CLIENT_FAULTS: Cells[] = [
  { client_activation_date: '2021-12-31' },
  { client_activation_date: FUTURE },
  { client_mobile_no: '+910000000001' },
  { client_mobile_no: '+910000000002' },
  { client_firstname: 'Usha' },
]

/** Late enough for a client that is active only in the future. */
const inOrder = (cells: Cells): Cells =>
  cells.client_activation_date === FUTURE
    ? { ...cells, submitted_on_date: FUTURE, approved_on_date: FUTURE, disbursed_on_date: FUTURE }
    : cells

/** The charges of this product would be more than the loan, and a run waits until an operator has changed them. */
const canEnd = ({ lender, principal }: Cells) => lender !== 'LENDER_05' || principal !== '50.00'

/** Each fault once with every product, and each fault of a client with two loans. */
export function everyFault(): Cells[] {
  const ofLoans = LOAN_FAULTS.flatMap((fault, i) =>
    LENDERS.map((lender, n) => ({
      ...goodLoan(n),
      client_external_id: `F-${i}-${n}`,
      client_mobile_no: '',
      loan_external_id: `F-${i}-${lender}`,
      lender,
      ...fault,
    })),
  )
  const ofClients = CLIENT_FAULTS.flatMap((fault, i) =>
    [1, 2].map(n => ({
      ...goodLoan(0),
      client_external_id: `G-${i}`,
      loan_external_id: `G-${i}-${n}`,
      ...fault,
    })),
  )
  return [...ofLoans, ...ofClients].filter(canEnd).map(inOrder)
}

/** The first loans are good in the first two files; people work on them in between. */
const GOOD = 12

export function randomLoans({ pick, chance }: Draw, loans: string[], file: number): Cells[] {
  const faulty = new Map(
    CLIENT_FAULTS.map(fault => {
      const n = pick([...loans.keys()].slice(GOOD))
      return [goodLoan(n).client_external_id, chance(file === 0 ? 0.3 : 0.7) ? fault : {}]
    }),
  )
  return [...loans.keys()]
    .filter(n => (n < GOOD ? file < 2 : chance(0.7)))
    .map(n => {
      const good = goodLoan(n)
      if (n < GOOD) return good
      return {
        ...good,
        ...(chance(0.6) ? pick(LOAN_FAULTS) : {}),
        ...faulty.get(good.client_external_id),
      }
    })
    .filter(canEnd)
    .map(inOrder)
}

const DAYS = ['2024-01-12', '2024-02-12', '2024-03-12', '2024-04-12', '2024-05-12', '2024-06-30']
const BAD_DAYS = ['2024-01-11', FUTURE]

const repayment = (loan: string, reference: string, cells: Cells = {}): Cells => ({
  loan_external_id: loan,
  payment_reference: reference,
  transaction_date: '2024-05-12',
  amount: '100',
  ...cells,
})
const gateway = 'gateway_a'

/** On good loans: first what the ledger accepts, and then, once people have worked on the loans, what it refuses. */
const EACH_FAULT: Cells[][] = [
  [
    repayment('L-000', 'pay_x', { gateway }),
    // Once its loan has been run, this is an error of the upload.
    repayment('L-004', 'd-1', { transaction_date: '2024-01-11' }),
    repayment('L-005', 'd-1'),
    repayment('L-007', 'd-1'),
    repayment('L-009', 'd-1'),
  ],
  [
    repayment('L-001', 'd-2', { transaction_date: FUTURE }),
    repayment('L-002', 'd-2', { amount: '100.50' }),
    repayment('L-003', 'd-2'),
    repayment('L-005', 'd-2', { transaction_date: '2024-04-12' }),
    repayment('L-006', 'pay_x', { gateway }),
    repayment('L-007', 'd-1'),
    repayment('L-009', 'd-1', { amount: '200' }),
    repayment('L-008', 'd-2', { transaction_date: '2024-02-12' }),
    repayment('L-010', 'd-2'),
    repayment('L-999', 'd-2'),
  ],
]

export function randomRepayments({ pick, chance }: Draw, loans: string[], file: number): Cells[] {
  const drawn = Array.from({ length: 50 }, () => {
    const nth = pick([0, 1, 2, 3, 4, 5])
    const isOfGateway = chance(0.2)
    // A spreadsheet may have dropped the zero between two files.
    const reference = chance(0.2) ? `70${nth}` : `070${nth}`
    // Mostly as in every other file, so that later ones find it at the ledger.
    const usual = chance(0.9) ? (DAYS[nth] as string) : pick(DAYS)
    return repayment(pick(loans.slice(GOOD)), isOfGateway ? `pay_${nth}` : reference, {
      gateway: isOfGateway ? gateway : '',
      transaction_date: chance(0.05) ? pick(BAD_DAYS) : usual,
      amount: chance(0.85) ? '100' : pick(['100.50', '200', '3000', '20000']),
    })
  })
  const payments = new Map<string, Cells>()
  for (const row of drawn) {
    const key =
      row.gateway === ''
        ? `${row.loan_external_id} ${Number(row.payment_reference)}`
        : row.payment_reference
    payments.set(key as string, row)
  }
  return [...(EACH_FAULT[file] ?? []), ...payments.values()]
}
