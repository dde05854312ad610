import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { toRead } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { WITHOUT_NUL } from '../../http/fields/text-fields.ts'
import { answerPage } from '../frame/answer.ts'
import { nothing } from '../frame/html.ts'
import type { PageContext } from '../page-context.ts'
import { MAX_HITS_PER_KIND, searchFor } from './search-for.ts'

const schema = {
  querystring: only({ q: Type.Optional(Type.String({ maxLength: 300, pattern: WITHOUT_NUL })) }),
}

export function searchPage(app: App, { db }: PageContext): void {
  app.get('/search', toRead(schema), async (request, reply) => {
    const { q = '' } = request.query
    const hits = q === '' ? [] : await searchFor(db, q)
    const [only] = hits
    if (only !== undefined && hits.length === 1) return reply.redirect(only.path, 303)
    const body = html`<h1>Search</h1>
${
  hits.length === 0
    ? html`<p class="hint">${q === '' ? 'Enter an id.' : html`Nothing has the id <strong>${q}</strong>.`}
The box finds tracking ids, external ids of loans and clients, payment ids, settlements, bank references (UTR), ids of uploaded files and of callbacks, and the SHA-256 of a file, as a whole.</p>`
    : html`<ul>${hits.map(({ title, path }) => html`<li><a href="${path}">${title}</a></li>`)}</ul>
${hits.length < MAX_HITS_PER_KIND ? nothing : html`<p class="hint">At most ${MAX_HITS_PER_KIND} of each kind are shown: there may be more.</p>`}`
}`
    return answerPage(request, reply, { title: 'Search', body })
  })
}
