import type { FastifyReply, FastifyRequest } from 'fastify'
import { withUnseenShown } from '../text/unseen.ts'
import { withTokens } from './forms/sent-once.ts'
import { layout, type Page } from './layout.ts'
import { pathOf } from './url.ts'

/** Sends the whole page even for a refresh: htmx picks the part that it needs. */
export async function answerPage(request: FastifyRequest, reply: FastifyReply, page: Page) {
  const path = pathOf(request.url)
  // Hono's text is a String object, which Fastify does not send.
  const viewer = request.user ?? undefined
  // What made the page fail would also make its menu fail.
  const count = reply.statusCode < 500 ? request.server.openApprovals : undefined
  const open = viewer && (await count?.().catch(() => undefined))
  const shown = { ...page, timeZone: request.server.timeZone }
  const text = withUnseenShown(String(await layout(shown, viewer, path, open)))
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(viewer === undefined ? text : withTokens(text, viewer.sub))
}
