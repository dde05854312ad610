import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import { formCookie } from '../../session/cookie.ts'
import { nextPath } from '../../session/next-path.ts'
import { sessionIn } from '../../session/session.ts'
import { words } from '../../text/words.ts'
import { facts } from '../html.ts'
import { hiddenFields } from './hidden-fields.ts'

/** Every form that changes something has a field of this name. */
export const FORM_TOKEN = 'form_token'

const MAX_TYPED_BYTES = 16_384
/** Browsers reject a cookie above 4,096 bytes, with its name and its signature. */
const MAX_SAVED_BYTES = 3_800

/** `account` is the id of who typed it, `typed` the fields and their values. */
type EndedForm = { account: string | null; action: string; typed: Fields | null }
type Fields = [name: string, value: string][]

/** Reads the body itself, because the session is checked before bodies are read. */
export async function saveEndedForm(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const account = (await sessionIn(request))?.sub ?? null
  save(request, reply, account, account === null ? null : await typedIn(request))
}

/** Saves a form for the account that filled it in, while another account is logged in. */
export function saveFormOf(request: FastifyRequest, reply: FastifyReply, account: string): void {
  const isForm = request.body !== null && typeof request.body === 'object'
  save(request, reply, account, isForm ? storable(Object.entries(request.body as object)) : null)
  // The form is not shown to the other account either.
  request.body = undefined
}

function save(
  request: FastifyRequest,
  reply: FastifyReply,
  account: string | null,
  typed: Fields | null,
) {
  const form = { account, action: request.url, typed }
  const saved = encoded(form)
  const isTooLong = saved.length > MAX_SAVED_BYTES
  formCookie.set(request, reply, isTooLong ? encoded({ ...form, typed: null }) : saved)
}

export function endedFormIn(request: FastifyRequest): EndedForm | undefined {
  try {
    const saved = Buffer.from(formCookie.read(request) ?? '', 'base64url')
    const text = inflateRawSync(saved, { maxOutputLength: 4 * MAX_TYPED_BYTES }).toString()
    return JSON.parse(text) as EndedForm
  } catch {
    return undefined
  }
}

export function sendAgain(fields: Fields, { action, back }: { action: string; back: string }) {
  return html`<h1>Send it now?</h1>
<p class="notice" role="status">You are logged in again. Your session had expired when you sent the form; nothing was changed.</p>
${facts([['Action', actionInWords(action)], ...fields.map(([name, value]): [string, string] => [words(name), value])])}
<form class="box" method="post" action="${nextPath(action)}">
${hiddenFields(fields)}
<button type="submit">Send it now</button> <a href="${nextPath(back)}">Back to the page, without it</a></form>`
}

/** `/console/payments/gateway_a/pay_1/note` becomes "note on payments gateway_a/pay_1". */
function actionInWords(action: string): string {
  const { pathname, searchParams } = new URL(action, 'http://console')
  const [place = '', ...rest] = pathname.split('/').slice(2).map(decodeURIComponent)
  const verb = rest.pop() ?? place
  const kind = searchParams.get('kind')
  const record = rest.length === 0 ? '' : ` on ${place} ${rest.join('/')}`
  return `${words(verb)}${record}${kind === null ? '' : ` (${kind})`}`
}

const encoded = (form: EndedForm): string =>
  deflateRawSync(JSON.stringify(form)).toString('base64url')

/** The text that was typed; null for a file, and for too long a text. */
async function typedIn({ raw, headers }: FastifyRequest): Promise<Fields | null> {
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded') !== true) return null
  if (Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) > MAX_TYPED_BYTES) return null
  let text = ''
  try {
    for await (const chunk of raw.setEncoding('utf8')) text += chunk
  } catch {
    // The browser has gone, and nobody reads the answer.
    return null
  }
  return storable([...new URLSearchParams(text)])
}

/** The fields; null with a password, which belongs in no cookie. The form is sent again with a token of its own. */
function storable(fields: Fields): Fields | null {
  if (fields.some(([name]) => name.includes('password'))) return null
  return fields.filter(([name]) => name !== FORM_TOKEN)
}
