import { fastify } from 'fastify'
import type { Test } from 'tap'
import { readAccount } from '../../../src/accounts/account.ts'
import { readSessions } from '../../../src/console/session/session.ts'
import type { Database } from '../../../src/database/database.ts'
import { newId } from '../../../src/ids.ts'
import { ADMIN, makeAccounts, OPERATOR } from '../accounts/admin.ts'
import { startTestService, type TestService } from '../service.ts'
import { until } from '../until.ts'

export const VIEWER = { username: 'vic.viewer', password: 'only for looking at it' }

/** A request as a browser sends it; redirects are not followed. */
export type Browse = {
  (path: string, form?: Record<string, string>, headers?: object): Promise<Seen>
  cookie: string
}
export type Seen = { status: number; headers: Headers; text: string }

export type ConsoleService = TestService & {
  anybody: Browse
  admin: Browse
  operator: Browse
  viewer: Browse
}

/** A service with the console and one account of each role, each with a session though none has logged in. */
export async function startWithConsole(
  t: Test,
  changes: NodeJS.ProcessEnv = {},
): Promise<ConsoleService> {
  const accounts = { admin: ADMIN, operator: OPERATOR, viewer: VIEWER }
  const prepare = (db: Database) => makeAccounts(db, accounts)
  const service = await startTestService(t, { CONSOLE_ENABLED: 'true', ...changes }, { prepare })
  const { url, db, config } = service
  const app = fastify()
  await readSessions(app, db, config)
  const withSession = async ({ username: name }: { username: string }) => {
    const { id: sub, role, tokenGeneration: gen } = await readAccount(db, name)
    const began = Math.floor(Date.now() / 1_000)
    const token = app.jwt.sign({ sub, name, role, gen, jti: newId(), began })
    return browser(url, `loanops=${token}`)
  }
  return {
    ...service,
    anybody: browser(url),
    admin: await withSession(ADMIN),
    operator: await withSession(OPERATOR),
    viewer: await withSession(VIEWER),
  }
}

export async function loggedIn(
  url: string,
  credentials: { username: string; password: string },
): Promise<Browse> {
  // Checking a password takes a second of a busy machine, and the page gives up before its client would.
  const { headers } = await until(async () => {
    const answer = await browser(url)('/console/login', credentials)
    return answer.status === 303 && answer
  }, 'the login')
  return browser(url, cookieIn(headers))
}

/** The cookie of an answer, as a browser sends it back. */
export function cookieIn(headers: Headers): string {
  return headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
}

export function browser(url: string, cookie = ''): Browse {
  const browse = async (path: string, form?: Record<string, string>, headers: object = {}) => {
    const response = await fetch(url + path, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie, ...headers },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return Object.assign(browse, { cookie })
}

/** Sends a form with a file as a browser does. */
export async function sendFile(
  { url, operator }: Pick<ConsoleService, 'url' | 'operator'>,
  { page, path }: { page: string; path: string },
  fields: Record<string, string>,
  file: File,
): Promise<Seen> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', file)
  const headers = { cookie: operator.cookie, referer: url + page }
  const response = await fetch(url + path, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body: form,
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
