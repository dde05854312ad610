import { html } from 'hono/html'

/** Markup in which every value is escaped. */
export type Html = ReturnType<typeof html>
/** What a template may hold: text is escaped, and null prints nothing. */
export type Content = Html | string | number | null

export const nothing: Html = html``
