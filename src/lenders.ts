import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import './setting-formats.ts'

const GatewayOfLender = Type.Object(
  {
    accounts: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    validateSignature: Type.Optional(Type.Boolean()),
    secretEnv: Type.Optional(Type.String({ minLength: 1 })),
    allowedCidrs: Type.Optional(Type.Array(Type.String({ format: 'network' }))),
  },
  { additionalProperties: false },
)
const LendersFile = Type.Record(
  // A lender's code becomes part of a table's name: raw.<lender>_<gateway>. UNKNOWN is the lender of what names none.
  Type.String({ pattern: '^(?!UNKNOWN$)[A-Z][A-Z0-9_]{0,39}$' }),
  Type.Object(
    {
      product: Type.Optional(Type.String({ minLength: 1 })),
      gateway_a: Type.Optional(GatewayOfLender),
      gateway_b: Type.Optional(GatewayOfLender),
    },
    { additionalProperties: false },
  ),
  { additionalProperties: false },
)

export const GATEWAYS = ['gateway_a', 'gateway_b'] as const
export type Gateway = (typeof GATEWAYS)[number]

/** How one gateway's events are believed for one lender. */
export type GatewayTrust = {
  accounts: string[]
  validateSignature: boolean
  secrets: string[]
  allowedCidrs: string[]
}
export type Lender = { code: string; product: string } & Record<Gateway, GatewayTrust>

const STANDARD_CODES = Array.from({ length: 9 }, (_, i) => `LENDER_0${i + 1}`)

/**
 * The nine lenders that are always there, changed and added to by the file's content.
 * @param gatewayASecrets those of GATEWAY_A_WEBHOOK_SECRET, used where a lender has none of its own
 * @param secretsIn reads the setting that a `secretEnv` names
 * @throws Error that names the member that does not fit
 */
export function lendersFrom(
  file: unknown,
  gatewayASecrets: string[],
  secretsIn: (settingName: string) => string[],
): Map<string, Lender> {
  const [error] = Value.Errors(LendersFile, file)
  if (error) throw new Error(`${error.path || 'the file'}: ${error.message}`)
  const given = file as Static<typeof LendersFile>
  const codes = new Set([...STANDARD_CODES, ...Object.keys(given)])
  const lenders = [...codes].sort().map(lender)
  refuseDifferentChecks(lenders)
  return new Map(lenders.map(one => [one.code, one]))

  function lender(code: string): Lender {
    return {
      code,
      product: given[code]?.product ?? code,
      gateway_a: trust(code, 'gateway_a', gatewayASecrets),
      gateway_b: trust(code, 'gateway_b', []),
    }
  }

  function trust(code: string, gateway: Gateway, gatewaySecrets: string[]): GatewayTrust {
    const said = given[code]?.[gateway] ?? {}
    const secrets = said.secretEnv === undefined ? gatewaySecrets : secretsIn(said.secretEnv)
    const validateSignature =
      said.validateSignature ?? (gateway === 'gateway_a' && gatewaySecrets.length > 0)
    if (validateSignature && secrets.length === 0) {
      const setting =
        said.secretEnv ?? (gateway === 'gateway_a' ? 'GATEWAY_A_WEBHOOK_SECRET' : 'a secretEnv')
      throw new Error(
        `/${code}/${gateway}: validateSignature wants a secret, and ${setting} is not set`,
      )
    }
    return {
      accounts: said.accounts ?? [],
      validateSignature,
      secrets,
      allowedCidrs: said.allowedCidrs ?? [],
    }
  }
}

/** A loan tells its product only: whoever named the lender with the weaker checks would get round the other's. */
function refuseDifferentChecks(lenders: Lender[]): void {
  for (const [product, holders] of Map.groupBy(lenders, lender => lender.product)) {
    const [first, ...others] = holders
    for (const gateway of GATEWAYS) {
      const other = others.find(one => checksOf(one[gateway]) !== checksOf(first?.[gateway]))
      if (other === undefined) continue
      throw new Error(
        `/${other.code}/${gateway}: ${first?.code} and ${other.code} share the product ${product} and must have the same validateSignature, secrets and allowedCidrs`,
      )
    }
  }
}

const checksOf = (trust: GatewayTrust | undefined) =>
  JSON.stringify([
    trust?.validateSignature,
    trust?.secrets.toSorted(),
    trust?.allowedCidrs.toSorted(),
  ])
