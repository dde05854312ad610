import { html } from 'hono/html'

export type Html = ReturnType<typeof html>
/** A value that a template takes: text is escaped; null prints nothing. */
export type Content = Html | string | number | null

export const nothing: Html = html``
