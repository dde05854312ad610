import { hash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Database } from '../../../database/database.ts'
import { discardFile } from '../../../http/body/multipart.ts'
import { Conflict } from '../../../http/problem.ts'
import { isUuid } from '../../../ids.ts'
import { isSafe } from '../../session/cross-origin.ts'
import { FORM_PAGE, placeBefore, urlWith } from '../url.ts'
import { FORM_TOKEN as FIELD, saveFormOf } from './ended-form.ts'

declare module 'fastify' {
  interface FastifyRequest {
    formToken: string | null
    /** The hash of the form that this request sent first. */
    sentForm: Buffer | null
    /** Whether the request's form, sent now or before, may still take effect. */
    isFormOpen: boolean
  }
}

const AGAIN_MS = 50
/** A page must be loaded within four seconds, and showing the form again takes some of them. */
const PATIENCE_MS = 3_000

/** A form that arrives twice, as after a double click, has one effect, and both show the outcome of the first. */
export function sendFormsOnce(app: FastifyInstance, db: Database): void {
  app.decorateRequest('formToken', null)
  app.decorateRequest('sentForm', null)
  app.decorateRequest('isFormOpen', false)
  app.addHook('preValidation', async (request, reply) => {
    const { user } = request
    request.formToken = isSafe(request) ? null : takeToken(request)
    // No route's schema has this parameter either.
    delete (request.query as Record<string, unknown>)[FORM_PAGE]
    const account = request.formToken?.split('/')[1]
    // This runs before the validation, whose refusal would show what was typed.
    if (account === undefined || user === null || account === user.sub) return
    saveFormOf(request, reply, account)
    throw new Conflict(
      'Another account filled in this form. Nothing was changed; it is kept until that account logs in.',
    )
  })
  app.addHook('preHandler', async (request, reply) => {
    const { body, headers, user, formToken } = request
    // Before the login there is nothing to do twice.
    if (formToken === null || user === null) return
    const url = urlWith(request.url, { [FIELD]: null, [FORM_PAGE]: null })
    // A file is read only as it is stored. If its length differs, it is another file; if not, it may still be another one.
    const content = body ?? headers['content-length'] ?? null
    const sent = hash('sha256', JSON.stringify([user.sub, url, formToken, content]), 'buffer')
    const { isFirst, location } = await claim(db, sent)
    request.isFormOpen = !isFirst && location === null
    if (request.isFormOpen)
      throw new Conflict(
        'This form was already sent, and its outcome is not known yet. Open the page again to see it.',
      )
    if (isFirst) {
      request.sentForm = sent
      return
    }
    // Only routes that take files have this.
    if (request.isMultipart?.()) await requireSameFile(db, sent, request)
    return reply.redirect(location ?? '/console', 303)
  })
  app.addHook('onSend', async (request, reply) => {
    const { sentForm, log } = request
    if (sentForm === null) return
    // The form has taken effect; without its outcome, a second arrival learns that the outcome is not known.
    await storeOutcome(db, sentForm, reply).catch(err =>
      log.warn({ err }, 'the outcome of a form could not be saved'),
    )
  })
}

/** Gives each form that changes something a token of its own, which names the account that fills it in. */
export function withTokens(page: string, account: string): string {
  const token = () => `${randomUUID()}/${account}`
  return page.replaceAll(/<form [^>]*method="post"[^>]*>/g, tag =>
    tag.includes('enctype=')
      ? tag.replace(/ action="[^"]*/, action => `${action}?${FIELD}=${token()}`)
      : `${tag}<input type="hidden" name="${FIELD}" value="${token()}">`,
  )
}

/**
 * Takes the token out of the request, as no route's schema has it. A file is read only as it is stored, so its form has
 * the token in the query.
 */
function takeToken({ query, body }: FastifyRequest): string | null {
  const fields = (
    body !== null && typeof body === 'object' && FIELD in body ? body : query
  ) as Record<string, unknown>
  const { [FIELD]: token } = fields
  delete fields[FIELD]
  return typeof token === 'string' && token.split('/').every(isUuid) ? token : null
}

type Claim = { isFirst: boolean; location: string | null }

/** @returns where the form's first arrival led; null if this is the first one, or if that is not known yet */
async function claim(db: Database, sent: Buffer): Promise<Claim> {
  const until = performance.now() + PATIENCE_MS
  do {
    const { rows } = await sql<Claim>`
      with old as (delete from loanops.sent_form where sent_at < now() - interval '1 day'),
      own as (
        insert into loanops.sent_form (sha256) values (${sent}) on conflict do nothing returning sha256
      )
      select true as "isFirst", null as location from own
      union all
      select false, location from loanops.sent_form where sha256 = ${sent}`.execute(db)
    const [found] = rows
    if (found?.isFirst || found?.location != null) return found
    await sleep(AGAIN_MS)
  } while (performance.now() < until)
  return { isFirst: false, location: null }
}

/** The hash of what a form sent is saved separately, because a file has been read only once the form has taken effect. */
const withContent = (sent: Buffer, { sentContent }: FastifyRequest) =>
  hash('sha256', `${sent.toString('hex')} ${sentContent}`, 'buffer')

async function requireSameFile(db: Database, sent: Buffer, request: FastifyRequest): Promise<void> {
  await discardFile(request)
  const { rows } = await sql`
    select from loanops.sent_form where sha256 = ${withContent(sent, request)}`.execute(db)
  if (rows.length === 0)
    throw new Conflict(
      'This form was sent before, with another file or other choices. Nothing was uploaded now: open the page again, and send the file from there.',
    )
}

/**
 * Saves the outcome. A refused form has changed nothing and may be sent again. One that failed otherwise may still take
 * effect, as when only the page's time is over.
 */
async function storeOutcome(db: Database, sent: Buffer, reply: FastifyReply): Promise<void> {
  const { statusCode, request } = reply
  if (request.isFormOpen) return
  const isRefused = statusCode >= 400
  // A page that answers a form is shown once: whoever sends the form again sees where it was.
  const location = statusCode === 303 ? reply.getHeader('location') : placeBefore(request)
  await (isRefused
    ? sql`delete from loanops.sent_form where sha256 = ${sent}`
    : sql`
        with own as (update loanops.sent_form set location = ${location} where sha256 = ${sent})
        insert into loanops.sent_form (sha256)
        select ${withContent(sent, request)} where ${request.sentContent != null}
        on conflict do nothing`
  ).execute(db)
}
