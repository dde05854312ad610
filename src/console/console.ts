import createError from '@fastify/error'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { countOpenApprovals } from '../accounts/approvals/find-approvals.ts'
import { logLosses, openDatabase } from '../database/database.ts'
import { registerFeatures } from '../http/register-features.ts'
import { closeQuery } from '../http/validator.ts'
import { serveAssets } from './frame/assets.ts'
import { errorPage, noPage } from './frame/errors.ts'
import { openFormats } from './frame/formats.ts'
import { readForms } from './frame/forms/forms.ts'
import { sendFormsOnce } from './frame/forms/sent-once.ts'
import { answerInTime, withinPatience } from './frame/in-time.ts'
import type { PageContext } from './page-context.ts'
import { PAGES } from './pages.ts'
import { refuseCrossOrigin } from './session/cross-origin.ts'
import { readSessions, requireSession } from './session/session.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route transfers a file and is exempt from the time limit of a page. */
    takesLong?: boolean
  }
  interface FastifyInstance {
    /** How many proposals are open; absent where no act needs approval. */
    openApprovals?: () => Promise<number>
    /** The zone of every time that a page shows. */
    timeZone: string
  }
  interface FastifyRequest {
    /** The time by `performance.now()`. */
    startedAt: number
  }
}

/** Few people read pages, and pages must not take connections from API calls. */
const CONNECTIONS = 4
const STATEMENT_MS = 3_000

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

type Context = Omit<PageContext, 'formats'>

export function consoleRoutes(
  context: Context,
  finish: (scope: FastifyInstance) => void,
): FastifyPluginAsync {
  const { config } = context
  return async app => {
    const db = openDatabase(config.DATABASE_URL, {
      max: CONNECTIONS,
      name: 'loanops-console',
      onError: logLosses(app.log),
      statementMs: STATEMENT_MS,
      // Starting parallel workers takes longer than reading one page of rows, and costs API calls CPU.
      isSerial: true,
    })
    app.addHook('onClose', () => db.destroy())
    app.decorateRequest('startedAt', 0)
    app.decorate('timeZone', config.LEDGER_TIMEZONE)
    if (config.APPROVALS.length > 0) app.decorate('openApprovals', () => countOpenApprovals(db))
    const inTime = answerInTime()
    app.addHook('onRoute', route => {
      route.schema = { ...route.schema, hide: true }
      closeQuery(route)
      inTime(route)
    })
    readForms(app)
    app.addHook('onRequest', sendHeaders)
    app.addHook('onSend', sendChallenge)
    app.addHook('onRequest', refuseCrossOrigin)
    app.addHook('onRequest', refuseBearer)
    await readSessions(app, db, config)
    app.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config.needs === 'nothing') return
      await withinPatience(requireSession(request, reply, config), request.startedAt)
    })
    sendFormsOnce(app, db)
    app.setErrorHandler(errorPage)
    app.setNotFoundHandler(noPage)
    await serveAssets(app)
    const formats = openFormats(config.LEDGER_TIMEZONE)
    await registerFeatures(app, { console: PAGES }, { ...context, db, formats })
    finish(app)
  }
}

async function sendHeaders(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  request.startedAt = performance.now()
  reply.header('content-security-policy', POLICY)
  // With `no-referrer`, browsers would send our own forms with `Origin: null`.
  reply.header('referrer-policy', 'same-origin')
}

/** The challenge is never Basic, for which browsers would ask people. */
async function sendChallenge(_: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (reply.statusCode === 401) reply.header('www-authenticate', 'Form realm="LoanOps"')
}

const NoBearerHere = createError(
  // The code is not UNAUTHORIZED, for which the console would lead to the login.
  'INVALID_CREDENTIALS',
  'The console takes no access token. Log in with its form, without the header Authorization.',
  401,
)

/**
 * Refuses a Bearer, which is neither ignored nor accepted here. Other schemes are for a proxy in front, such as one
 * that asks for a password of its own.
 */
async function refuseBearer({ headers }: FastifyRequest): Promise<void> {
  if (/^bearer\b/i.test(headers.authorization ?? '')) throw new NoBearerHere()
}
