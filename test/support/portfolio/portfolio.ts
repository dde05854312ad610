// Generates a portfolio and the books it must lead to, calculated independently, in whole paise.
import { externalId } from './external-ids.ts'

export type ExpectedLoan = {
  externalId: string
  /** Fineract's id of the status. */
  status: number
  principalPaid: bigint
  outstanding: bigint
  overpaid: bigint
  repayments: number
}
type Portfolio = { loansCsv: string; repaymentsCsv: string; expected: ExpectedLoan[] }

const DAY_MS = 86_400_000
const SCALE = 10n ** 40n
/** One, in the scale of a monthly rate: the ledger keeps 19 digits of a percentage between 1 and 10. */
const MONTHLY = 10n ** 20n
const FIRST_SUBMISSION = Date.UTC(2023, 0, 10)
const RATES = ['0', '9.75', '12', '18', '24', '36.5']
const TERMS = [6, 9, 12, 18, 24]
const NAMES = ['Asha', 'José', 'Zoë', 'राम', 'O’Neil', 'Rao, Jr', 'Anne "Annie"']

/** @param seed the same seed gives the same portfolio. @param idOf by default, ids of every kind */
export function makePortfolio(
  size: { clients: number; loans: number; repayments: number },
  seed: number,
  idOf: typeof externalId = externalId,
): Portfolio {
  const random = dice(seed)
  const pick = <T>(list: T[]): T => list[Math.floor(random() * list.length)] as T
  const loanRows: string[][] = []
  const repaymentRows: { time: number; cells: string[] }[] = []
  const expected: ExpectedLoan[] = []
  const clients = Array.from({ length: size.clients }, (_, i) => [
    idOf('C', i),
    pick(NAMES),
    `Client ${i}`,
    random() < 0.5 ? `+9198${String(seed * 100_000 + i).padStart(8, '0')}` : '',
    random() < 0.5 ? `c${i}@example.in` : '',
    '2023-01-02',
  ])
  const stages = Array.from({ length: size.loans }, () => random())
  const disbursed = stages.filter(stage => stage >= 0.1).length

  let nth = 0
  for (const [i, stage] of stages.entries()) {
    const loan = idOf('L', i)
    const principal = BigInt(5_000_00 + Math.floor(random() * 200_000_00))
    const rate = pick(RATES)
    const term = pick(TERMS)
    const submitted = FIRST_SUBMISSION + Math.floor(random() * 400) * DAY_MS
    const isApproved = stage >= 0.05
    const isDisbursed = stage >= 0.1
    loanRows.push([
      ...(clients[i % clients.length] as string[]),
      `LENDER_0${(i % 9) + 1}`,
      loan,
      rupees(principal),
      rate,
      String(term),
      i % 3 === 0 ? '' : 'months',
      String(term),
      dayOf(submitted, i),
      isApproved ? dayOf(submitted + DAY_MS, i) : '',
      isDisbursed ? dayOf(submitted + 2 * DAY_MS, i + 1) : '',
      '',
      isDisbursed && i % 2 === 0 ? `UTR${seed}${i}` : '',
    ])
    const schedule = scheduleOf(principal, rate, term)
    const amounts: bigint[] = []
    if (isDisbursed) {
      const wanted =
        Math.floor(size.repayments / disbursed) + Number(nth++ < size.repayments % disbursed)
      const emi = (schedule[0]?.principal ?? 0n) + (schedule[0]?.interest ?? 0n)
      for (let n = 0; n < wanted; n++) {
        const kind = random()
        // Mostly one instalment, sometimes part of one, occasionally several.
        amounts.push(kind < 0.8 ? emi : kind < 0.97 ? emi / 3n + 1n : emi * 4n + 7n)
      }
    }
    for (const [n, amount] of amounts.entries()) {
      const time = submitted + (30 + n * 15) * DAY_MS
      const gateway = i % 4 === 0 ? 'gateway_a' : ''
      repaymentRows.push({
        time,
        cells: [
          loan,
          dayOf(time, n),
          rupees(amount),
          `pay_${seed}_${i}_${n}`,
          gateway,
          n % 5 ? '' : 'EMI; "paid"',
        ],
      })
    }
    expected.push({
      externalId: loan,
      repayments: amounts.length,
      ...bookOf(schedule, amounts, isDisbursed, isApproved),
    })
  }
  // Not in order of payment, because the run must sort them.
  repaymentRows.sort(() => random() - 0.5)
  return {
    loansCsv: csv(LOAN_COLUMNS, loanRows),
    repaymentsCsv: csv(
      REPAYMENT_COLUMNS,
      repaymentRows.map(({ cells }) => cells),
    ),
    expected,
  }
}

export const LOAN_COLUMNS =
  'client_external_id,client_firstname,client_lastname,client_mobile_no,client_email_address,client_activation_date,lender,loan_external_id,principal,interest_rate_per_period,loan_term_frequency,loan_term_frequency_type,number_of_repayments,submitted_on_date,approved_on_date,disbursed_on_date,disbursed_amount,utr_payment_id'
export const REPAYMENT_COLUMNS =
  'loan_external_id,transaction_date,amount,payment_reference,gateway,note'

type Instalment = { principal: bigint; interest: bigint }

/** Equal monthly instalments on the declining balance. */
function scheduleOf(principal: bigint, ratePercent: string, term: number): Instalment[] {
  const rate = halfEven(parseDecimal(ratePercent, 18), 12n)
  const i = (rate * SCALE) / MONTHLY
  let grown = SCALE
  for (let n = 0; n < term; n++) grown = (grown * (SCALE + i)) / SCALE
  const instalment =
    i === 0n
      ? withoutInterest(principal, term)
      : // P·i / (1 − (1+i)^−n)  =  P·i·(1+i)^n / ((1+i)^n − 1)
        halfEven(principal * i * grown, SCALE * (grown - SCALE))
  let balance = principal
  return Array.from({ length: term }, (_, n) => {
    const interest = halfEven(ofNineteenDigits(balance * rate), MONTHLY)
    const part = n === term - 1 ? balance : instalment - interest
    balance -= part
    return { principal: part, interest }
  })
}

/** Without interest, the ledger divides doubles. */
function withoutInterest(principal: bigint, term: number): bigint {
  const divided = parseDecimal(String(Number(rupees(principal)) / term), 20)
  return halfEven(divided, 10n ** 18n)
}

/** The digits that the ledger keeps of a product. */
function ofNineteenDigits(product: bigint): bigint {
  const unit = 10n ** BigInt(Math.max(0, String(product).length - 19))
  return halfEven(product, unit) * unit
}

function bookOf(
  schedule: Instalment[],
  amounts: bigint[],
  isDisbursed: boolean,
  isApproved: boolean,
): Pick<ExpectedLoan, 'status' | 'principalPaid' | 'outstanding' | 'overpaid'> {
  const nothing = { principalPaid: 0n, outstanding: 0n, overpaid: 0n }
  if (!isDisbursed) return { status: isApproved ? 200 : 100, ...nothing }
  let left = amounts.reduce((sum, amount) => sum + amount, 0n)
  let [principalPaid, outstanding] = [0n, 0n]
  // Instalment by instalment, interest first, so only the total paid matters.
  for (const { principal, interest } of schedule) {
    const toInterest = min(left, interest)
    const toPrincipal = min(left - toInterest, principal)
    left -= toInterest + toPrincipal
    principalPaid += toPrincipal
    outstanding += principal + interest - toInterest - toPrincipal
  }
  return {
    status: outstanding > 0n ? 300 : left > 0n ? 700 : 600,
    principalPaid,
    outstanding,
    overpaid: left,
  }
}

const min = (a: bigint, b: bigint) => (a < b ? a : b)

/** Neither may be negative. */
function halfEven(over: bigint, under: bigint): bigint {
  const down = over / under
  const twice = (over % under) * 2n
  return twice > under || (twice === under && down % 2n === 1n) ? down + 1n : down
}

function parseDecimal(text: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

export const rupees = (paise: bigint) => `${paise / 100n}.${String(paise % 100n).padStart(2, '0')}`

const MONTHS =
  'January February March April May June July August September October November December'.split(' ')

/** A day in either of the accepted forms. */
function dayOf(time: number, n: number): string {
  const iso = new Date(time).toISOString().slice(0, 10)
  const [year, month, day] = iso.split('-')
  return n % 2 === 0 ? iso : `${day} ${MONTHS[Number(month) - 1]} ${year}`
}

function csv(header: string, rows: string[][]): string {
  const lines = rows.map(row =>
    row.map(cell => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(','),
  )
  return `${[header, ...lines].join('\r\n')}\r\n`
}

/** Numbers from 0 to 1, the same for the same seed. */
export function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
