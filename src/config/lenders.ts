import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { GatewayName } from '../payments/gateways/gateways.ts'
import { includeEverybody } from './everybody.ts'
import './settings/setting-formats.ts'

export const GatewayOfLender = Type.Object(
  {
    accounts: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    validateSignature: Type.Optional(Type.Boolean()),
    secretEnv: Type.Optional(Type.String({ minLength: 1 })),
    allowedCidrs: Type.Optional(Type.Array(Type.String({ format: 'network' }))),
    apiKeyEnv: Type.Optional(Type.String({ minLength: 1 })),
    apiSecretEnv: Type.Optional(Type.String({ minLength: 1 })),
    posting: Type.Optional(Type.Union([Type.Literal('automatic'), Type.Literal('review')])),
    /** Whether unsigned events count only after the gateway confirms them. */
    confirm: Type.Optional(Type.Boolean()),
    /**
     * The treatment of a fee that the payer paid on top: an operator sees it first, it is not posted, or it is posted to
     * the loan.
     */
    payerFee: Type.Optional(
      Type.Union([Type.Literal('review'), Type.Literal('deduct'), Type.Literal('credit')]),
    ),
    /** Whether batches take proved refunds and lost chargebacks out of their payments, or only operators do. */
    reversals: Type.Optional(Type.Union([Type.Literal('automatic'), Type.Literal('manual')])),
    /** Given where the lender takes events that nothing proves. */
    trust: Type.Optional(Type.Literal('unverified')),
  },
  { additionalProperties: false },
)
type Members = Static<typeof GatewayOfLender>
const ProductName = Type.String({ minLength: 1 })
const OfLender = Type.Object({
  product: Type.Optional(
    Type.Union([ProductName, Type.Array(ProductName, { minItems: 1, uniqueItems: true })]),
  ),
  productTerms: Type.Optional(Type.Union([Type.Literal('copy'), Type.Literal('request')])),
  copyToPortfolio: Type.Optional(Type.Boolean()),
})
type GatewaysOfLender = { [G in GatewayName]?: Static<typeof GatewayOfLender> }

export type SharedSecrets = { name: GatewayName; secretSetting?: string; secrets: string[] }

export type GatewayTrust = ReturnType<typeof trustBy> & {
  secrets: string[]
  secretSetting: string | undefined
  api?: { key: string; secret: string }
}
/** `product`: the first of the lender's products, for new loans. */
export type Lender = {
  code: string
  product: string
  products: string[]
  /** Whether LENDERS_FILE names the lender. */
  isNamed: boolean
  /** `copied`: new loans take from their product the terms that the request lacks; `toPortfolio`: those of a portfolio too. */
  terms: { copied: boolean; toPortfolio: boolean }
} & Record<GatewayName, GatewayTrust>

/** An event that names none of the lenders may be any lender's. */
export const lendersNamed = (lenders: ReadonlyMap<string, Lender>, code: string): Lender[] =>
  [lenders.get(code) ?? [...lenders.values()]].flat()

const STANDARD_CODES = Array.from({ length: 9 }, (_, i) => `LENDER_0${i + 1}`)

export type SecretReader = {
  secretsIn(settingName: string): string[]
  valueIn(settingName: string): string
}

export function lendersFrom(
  file: unknown,
  gateways: SharedSecrets[],
  env: SecretReader,
  /** The members for each gateway of a lender whose events nothing proves. */
  standard: Members = {},
): Map<string, Lender> {
  const [error] = Value.Errors(lendersFile(gateways), file)
  if (error) throw new Error(`${error.path || 'the file'}: ${error.message}`)
  const given = file as Record<string, GatewaysOfLender & Static<typeof OfLender>>
  const codes = new Set([...STANDARD_CODES, ...Object.keys(given)])
  const lenders = [...codes].sort().map(lender)
  refuseDifferentChecks(lenders, gateways)
  return new Map(lenders.map(one => [one.code, one]))

  function lender(code: string): Lender {
    const { product = code, productTerms, copyToPortfolio = false } = given[code] ?? {}
    const terms = { copied: productTerms !== 'request', toPortfolio: copyToPortfolio }
    if (copyToPortfolio && !terms.copied)
      throw new Error(`/${code}: copyToPortfolio requires productTerms to be "copy"`)
    const products = [product].flat()
    const isNamed = given[code] !== undefined
    return lenderWith(gateways, { code, products, terms, isNamed }, gateway => {
      const own = given[code]?.[gateway.name] ?? {}
      return trustIn(own, { path: `/${code}/${gateway.name}`, gateway, env, standard })
    })
  }
}

type OfMember = { path: string; gateway: SharedSecrets; env: SecretReader; standard: Members }

function trustIn(own: Members, { path, gateway, env, standard }: OfMember): GatewayTrust {
  const member = isProven(own, gateway) ? own : { ...standard, ...own, ...proofsOf(standard) }
  const secretSetting = member.secretEnv ?? gateway.secretSetting
  const secrets = member.secretEnv === undefined ? gateway.secrets : env.secretsIn(member.secretEnv)
  const trusted = trustBy(member, gateway)
  if (trusted.validateSignature && secrets.length === 0) {
    throw new Error(
      `${path}: validateSignature requires a secret, but ${secretSetting ?? 'a secretEnv'} is not set`,
    )
  }
  const { apiKeyEnv, apiSecretEnv } = member
  if (includeEverybody(trusted.allowedCidrs))
    throw new Error(
      `${path}: allowedCidrs includes every address and so proves nothing: leave it out`,
    )
  return {
    ...trusted,
    secrets,
    secretSetting,
    ...(apiKeyEnv === undefined && apiSecretEnv === undefined
      ? {}
      : { api: credentials(env, path, apiKeyEnv, apiSecretEnv) }),
  }
}

export function unconfiguredLender(gateways: SharedSecrets[], product: string): Lender {
  const terms = { copied: true, toPortfolio: false }
  const lender = { code: product, products: [product], terms, isNamed: false }
  return lenderWith(gateways, lender, gateway => ({
    ...trustBy({}, gateway),
    secrets: [],
    secretSetting: undefined,
  }))
}

/** The members of a lender for a gateway that are about trust, each with its default. */
function trustBy(member: Members, gateway: SharedSecrets) {
  return {
    accounts: member.accounts ?? [],
    validateSignature: member.validateSignature ?? isValidatedByDefault(gateway),
    allowedCidrs: member.allowedCidrs ?? [],
    posting: member.posting ?? 'automatic',
    confirm: member.confirm ?? false,
    payerFee: member.payerFee ?? 'deduct',
    reversals: member.reversals ?? 'manual',
    isUnverified: member.trust === 'unverified',
  }
}

function lendersFile(gateways: SharedSecrets[]) {
  const ofLender = gateways.map(({ name }) => [name, Type.Optional(GatewayOfLender)])
  return Type.Record(
    // A lender's code becomes part of a table name: raw.<lender>_<gateway>. UNKNOWN is for events that name no lender.
    Type.String({ pattern: '^(?!UNKNOWN$)[A-Z][A-Z0-9_]{0,39}$' }),
    Type.Object(
      { ...OfLender.properties, ...Object.fromEntries(ofLender) },
      { additionalProperties: false },
    ),
    { additionalProperties: false },
  )
}

function isProven(
  { validateSignature, confirm, allowedCidrs = [], trust }: Members,
  gateway: SharedSecrets,
): boolean {
  const isSigned = validateSignature ?? isValidatedByDefault(gateway)
  return isSigned || confirm === true || allowedCidrs.length > 0 || trust !== undefined
}

/** The shared proofs count although the lender's own members may say that there is no proof. */
function proofsOf({ validateSignature, confirm, allowedCidrs, trust }: Members): Members {
  const proofs = { validateSignature, confirm, allowedCidrs, trust }
  return Object.fromEntries(Object.entries(proofs).filter(([, value]) => value !== undefined))
}

const isValidatedByDefault = ({ secrets }: SharedSecrets) => secrets.length > 0

function lenderWith(
  gateways: SharedSecrets[],
  lender: Omit<Lender, GatewayName | 'product'>,
  trust: (gateway: SharedSecrets) => GatewayTrust,
): Lender {
  const trusts = gateways.map(gateway => [gateway.name, trust(gateway)])
  const [product = lender.code] = lender.products
  return {
    ...lender,
    product,
    ...(Object.fromEntries(trusts) as Record<GatewayName, GatewayTrust>),
  }
}

function credentials(env: SecretReader, path: string, keyEnv?: string, secretEnv?: string) {
  if (keyEnv === undefined || secretEnv === undefined)
    throw new Error(`${path}: apiKeyEnv and apiSecretEnv must both be given`)
  const [key, secret] = [env.valueIn(keyEnv), env.valueIn(secretEnv)]
  if (key === '' || secret === '')
    throw new Error(`${path}: ${key === '' ? keyEnv : secretEnv} is not set`)
  return { key, secret }
}

/** A loan only names its product: naming the lender with the weaker checks would bypass the other lender's checks. */
function refuseDifferentChecks(lenders: Lender[], gateways: SharedSecrets[]): void {
  for (const product of new Set(lenders.flatMap(({ products }) => products))) {
    const [first, ...others] = lenders.filter(({ products }) => products.includes(product))
    for (const { name: gateway } of gateways) {
      const other = others.find(one => checksOf(one[gateway]) !== checksOf(first?.[gateway]))
      if (other === undefined) continue
      throw new Error(
        `/${other.code}/${gateway}: ${first?.code} and ${other.code} share the product ${product} and must have the same validateSignature, secrets, allowedCidrs, posting, confirm, payerFee and reversals`,
      )
    }
  }
}

const checksOf = (trust: GatewayTrust | undefined) =>
  JSON.stringify([
    trust?.validateSignature,
    trust?.secrets.toSorted(),
    trust?.allowedCidrs.toSorted(),
    trust?.posting,
    trust?.confirm,
    trust?.payerFee,
    trust?.reversals,
  ])
