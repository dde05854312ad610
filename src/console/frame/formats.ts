import { html } from 'hono/html'
import { type Html, nothing } from './html.ts'

const MAX_DECIMALS = 20
const amounts = new Intl.NumberFormat('en-IN', {
  minimumFractionDigits: 2,
  maximumFractionDigits: MAX_DECIMALS,
})
const counts = new Intl.NumberFormat('en-IN')

export type Formats = ReturnType<typeof openFormats>

export function openFormats(timeZone: string) {
  const times = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  const texts = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return {
    timeZone,
    /** A time as `YYYY-MM-DD HH:MM:SS`; empty for null. */
    text: (value: Date | string | null | undefined) =>
      value === null || value === undefined ? '' : texts.format(new Date(value)),
    day: (value: Date) => texts.format(value).slice(0, 10),
    time(value: Date | string | null | undefined): Html {
      if (value === null || value === undefined) return nothing
      const iso = new Date(value).toISOString()
      return html`<time datetime="${iso}" title="${iso.replace('T', ' ').replace('Z', ' UTC')}">${times.format(new Date(value))}</time>`
    },
  }
}

/** An amount with every digit, grouped as in India: INR 1,23,456.50. */
export function amount(value: string | null, currency: string | null = null): string {
  if (value === null) return ''
  // The amount stays text: a double would round it.
  const grouped = amounts.format(value as `${number}`)
  return currency === null ? grouped : `${currency} ${grouped}`
}

/** An amount whose currency only the ledger knows. */
export const inLoansCurrency = (value: string) => `${amount(value)} in the loan’s currency`

export function count(value: number | string | null): string {
  return value === null ? '' : counts.format(Number(value))
}

/** `100 of 2,345`, so that no list ends unnoticed. */
export function ofAll(shown: number, all: number): string {
  return `${count(shown)} of ${count(all)}`
}
