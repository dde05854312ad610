import createError from '@fastify/error'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { PgBoss } from 'pg-boss'
import { addressOf } from '../../accounts/address.ts'
import type { Config, OpenGateway, PaymentSettings } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { Unavailable } from '../../database/unavailable.ts'
import type { Watch } from '../../database/watch.ts'
import type { App } from '../../http/app.ts'
import { limitConcurrent } from '../../http/connections/connections.ts'
import { titled } from '../../http/fields/schemas.ts'
import { invalidField } from '../../http/problem.ts'
import type { Metrics } from '../../ops/metrics.ts'
import { inPascalCase } from '../../text/capitalised.ts'
import { trimmed } from '../../text/trimmed.ts'
import type { PayloadFields } from '../gateways/gateway.ts'
import { isObject } from '../gateways/items/exact-json.ts'
import { type PaymentEvent, UNKNOWN } from '../payment-event.ts'
import { paymentCounters } from '../payment-signals.ts'
import { checkSignature } from './check-signature.ts'
import { enqueueEvents } from './enqueue-events.ts'
import { lenderOf } from './lender-of.ts'
import { limitEvents } from './limit-events.ts'
import { shortText, storableHeaders } from './storable-parts.ts'
import { showUnproven } from './unproven-webhooks.ts'
import type { WebhookCalls } from './webhook-calls.ts'
import { whyStray } from './why-stray.ts'
import { whyUnsigned } from './why-unsigned.ts'

const InvalidSignature = createError(
  'INVALID_SIGNATURE',
  'The signature is missing or does not match the body',
  401,
)

// A boolean literal does not compile in every generator's Java.
const ReceivedEvent = titled('ReceivedEvent', { received: Type.Unsafe<true>(Type.Boolean()) })

const MAX_BODY_BYTES = 1024 * 1024
/** No gateway's event is larger; up to here, as many may arrive as there are connections. */
const SMALL_BODY_BYTES = 64 * 1024

type Context = {
  db: Database
  boss: PgBoss
  config: Config
  metrics: Metrics
  watch: Watch
  webhookCalls: WebhookCalls
  limits: { largeBodies: number }
}

/** The webhooks' routes need no token: a signature proves the sender. */
export function webhookRoutes(app: App, context: Context): void {
  const { db, boss, config, metrics, watch, webhookCalls: calls, limits } = context
  const { lenders } = config
  const counters = metrics.of(paymentCounters)
  showNone(counters, config)
  const enqueue = enqueueEvents(db, boss, watch)
  const limit = limitEvents(config)

  showUnproven(app.log, metrics.registry, config)
  takeBytes(app)
  limitLargeBodies(app, limits)
  app.addHook('onClose', calls.close)
  for (const gateway of config.gateways)
    app.post(gateway.path, routeOptions(gateway, context), async request => {
      await take(gateway, request)
      return { received: true as const }
    })

  async function take(gateway: OpenGateway, request: FastifyRequest): Promise<void> {
    const body = (request.body ?? Buffer.of()) as Buffer
    const { headers } = request.raw
    const from = { address: addressOf(request), gateway: gateway.name }
    const check = (lender: string) => checkSignature(lenders, gateway, { lender, body, headers })
    // Only the body says whose event it is, and a stranger's megabyte may take half a second to parse.
    const isSigned = () => check(UNKNOWN).verifiedBy !== null
    const isCounted = await limit({ ...from, lender: UNKNOWN, isSigned })
    const event = jsonObject(body)
    const lender = lenderOf(lenders, gateway.name, {
      inUrl: inUrl(request),
      accounts: gateway.accounts(event),
      inNotes: gateway.lenders(event),
    })
    const { isRefused, verifiedBy } = check(lender)
    const labels = { gateway: gateway.name, lender }
    const known = { lender, eventType: shortText(gateway.eventType(event)) }
    calls.learn(request, known)
    if (!isCounted) await limit({ ...from, lender, isSigned: () => verifiedBy !== null })
    if (verifiedBy === null && isRefused) {
      counters.signatureFailures.inc(labels)
      calls.learn(request, { ...known, reason: whyUnsigned(lenders, gateway, lender, headers) })
      throw new InvalidSignature()
    }
    await enqueue({ ...eventOf(request, gateway, known), verifiedBy }).catch(cause => {
      throw new Unavailable('the event could not be stored', { cause })
    })
    const reason = whyStray(config.gateways, gateway, event)
    if (reason !== undefined) calls.learn(request, { ...known, reason })
    counters.events.inc(labels)
  }
}

/** Prometheus sees no increase in a count that begins with 1. */
function showNone(
  { signatureFailures }: ReturnType<typeof paymentCounters>,
  { gateways, lenders }: PaymentSettings,
): void {
  for (const { name: gateway } of gateways)
    for (const lender of [...lenders.keys(), UNKNOWN]) signatureFailures.inc({ gateway, lender }, 0)
}

/** A signature covers the bytes as they arrived, regardless of the content type. */
function takeBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  // Fastify responds 415 to a content type that it cannot parse before it asks a parser; `raw` keeps what was sent.
  app.addHook('onRequest', async request => {
    request.headers = { 'content-type': 'application/octet-stream' }
  })
}

/** Each body is in memory until it is complete, and anybody may send one. */
function limitLargeBodies(app: FastifyInstance, { largeBodies }: Context['limits']): void {
  const limit = limitConcurrent(largeBodies, 'large events are arriving')
  // The call's lender is known by now, so that a refusal is listed under it.
  app.addHook('preParsing', async (request, reply) => {
    // A body of unknown length may be a large one.
    const isSmall = Number(request.raw.headers['content-length']) <= SMALL_BODY_BYTES
    if (!isSmall) await limit(request, reply)
  })
}

function eventOf(
  request: FastifyRequest,
  gateway: OpenGateway,
  known: Pick<PaymentEvent, 'lender' | 'eventType'>,
): Omit<PaymentEvent, 'verifiedBy'> {
  const { headers } = request.raw
  return {
    ...known,
    gateway: gateway.name,
    receivedAt: new Date().toISOString(),
    eventId: shortText(gateway.eventId(headers)),
    body: (request.body as Buffer).toString('base64'),
    headers: storableHeaders(headers),
    address: addressOf(request),
  }
}

function routeOptions({ name, title, headers }: OpenGateway, { config, webhookCalls }: Context) {
  const { WEBHOOKS_PER_MINUTE } = config
  const described = Object.entries(headers).map(([name, description]) => [
    name,
    Type.Optional(Type.String({ description })),
  ])
  return {
    bodyLimit: MAX_BODY_BYTES,
    config: { needs: 'nothing' } as const,
    // This does not wait for the body, which may be refused unread: the call is listed under its lender all the same.
    onRequest: async (request: FastifyRequest) => {
      const named = { inUrl: inUrl(request), accounts: [], inNotes: [] }
      const lender = lenderOf(config.lenders, name, named)
      webhookCalls.learn(request, { lender, eventType: null })
    },
    onResponse: webhookCalls.note(name),
    // A gateway may add anything to its URL or body: an event refused for that would be lost.
    validatorCompiler: () => () => true,
    schema: {
      operationId: `receive${inPascalCase(name)}Event`,
      'x-refusals': [
        'INVALID_SIGNATURE',
        ...(WEBHOOKS_PER_MINUTE > 0 ? ['TOO_MANY_ATTEMPTS'] : []),
      ],
      summary: `Receives an event of ${title}`,
      security: [],
      querystring: Type.Object({
        lender: Type.Optional(
          Type.String({ description: 'a lender’s code', examples: ['LENDER_02'] }),
        ),
      }),
      headers: Type.Object(Object.fromEntries(described)),
      body: Type.Object(
        {},
        {
          additionalProperties: true,
          title: 'GatewayEvent',
          examples: [{ event: 'payment.captured' }],
        },
      ),
      response: { 200: ReceivedEvent },
    },
  }
}

/** Whoever copies the URL into a gateway's form may copy a blank with it. */
const inUrl = ({ query }: FastifyRequest) =>
  [(query as PayloadFields).lender]
    .flat()
    .map(name => (typeof name === 'string' ? trimmed(name) : name))

/** The text lacks a byte order mark, which relays of some platforms write; the stored bytes keep it. */
const utf8 = new TextDecoder()

function jsonObject(body: Buffer): PayloadFields {
  try {
    const value: unknown = JSON.parse(utf8.decode(body))
    if (isObject(value)) return value
  } catch {}
  throw invalidField('', 'must be a JSON object')
}
