import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import { facts } from '../frame/facts.ts'
import { words } from '../frame/formats.ts'
import type { Html } from '../frame/html.ts'
import { formIn, keepForm } from './cookie.ts'
import { nextPath } from './next-path.ts'
import { sessionIn } from './session.ts'

const MAX_TYPED_BYTES = 16_384
/** Browsers reject a cookie above 4,096 bytes, with its name and its signature. */
const MAX_KEPT_BYTES = 3_800

/** `account` is the id of who typed it. */
type EndedForm = { account: string | null; action: string; typed: string | null }

/** Reads the body itself, because the session is checked before bodies are read. */
export async function keepEndedForm(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const account = (await sessionIn(request))?.sub ?? null
  const form = { account, action: request.url, typed: account && (await typedIn(request)) }
  const kept = encoded(form)
  keepForm(request, reply, kept.length > MAX_KEPT_BYTES ? encoded({ ...form, typed: null }) : kept)
}

export function endedFormIn(request: FastifyRequest): EndedForm | undefined {
  try {
    const kept = Buffer.from(formIn(request) ?? '', 'base64url')
    const text = inflateRawSync(kept, { maxOutputLength: 4 * MAX_TYPED_BYTES }).toString()
    return JSON.parse(text) as EndedForm
  } catch {
    return undefined
  }
}

export function sendAgain(typed: string, { action, back }: { action: string; back: string }): Html {
  const fields = [...new URLSearchParams(typed)]
  return html`<h1>Send it now?</h1>
<p class="notice" role="status">You are logged in again. Your session had expired when you sent the form; nothing was changed.</p>
${facts(fields.map(([name, value]) => [words(name), value]))}
<form class="box" method="post" action="${nextPath(action)}">
${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button type="submit">Send it now</button> <a href="${nextPath(back)}">Back to the page, without it</a></form>`
}

function encoded(form: EndedForm): string {
  return deflateRawSync(JSON.stringify(form)).toString('base64url')
}

/** Null for a file, for too long a text, and for a password, which belongs in no cookie. */
async function typedIn({ raw, headers }: FastifyRequest): Promise<string | null> {
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded') !== true) return null
  if (Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) > MAX_TYPED_BYTES) return null
  let text = ''
  try {
    for await (const chunk of raw.setEncoding('utf8')) text += chunk
  } catch {
    // The browser has gone, and nobody reads the answer.
    return null
  }
  return [...new URLSearchParams(text).keys()].some(name => name.includes('password')) ? null : text
}
