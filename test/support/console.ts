import type { Test } from 'tap'
import { ADMIN, OPERATOR } from './admin.ts'
import { startTestService, type TestService } from './service.ts'
import { until } from './until.ts'

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

/** A service with the console and one account of each role, all logged in. */
export async function startWithConsole(
  t: Test,
  changes: NodeJS.ProcessEnv = {},
): Promise<ConsoleService> {
  const service = await startTestService(t, {
    CONSOLE_ENABLED: 'true',
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    ...changes,
  })
  const admin = await loggedIn(service.url, ADMIN)
  for (const [account, role] of [
    [OPERATOR, 'operator'],
    [VIEWER, 'viewer'],
  ] as const)
    await admin('/console/accounts', { ...account, role })
  return {
    ...service,
    anybody: browser(service.url),
    admin,
    operator: await loggedIn(service.url, OPERATOR),
    viewer: await loggedIn(service.url, VIEWER),
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
