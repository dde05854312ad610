import { html } from 'hono/html'
import { count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { countText } from '../lists/count.ts'
import type { History, TimeBucket } from './history.ts'

const WIDTH = 370
const HEIGHT = 60
const LABELS = 22
/** How far a letter such as g reaches below its line. */
const DESCENT = 5

export function charts(history: History | null): Html {
  if (history === null) return nothing
  const { buckets, acceptedLastMinute, finishedLastMinute } = history
  return html`<div class="tiles three">
${tile('Accepted per minute', acceptedLastMinute, '/console/operations', chart(buckets, 'accepted'))}
${tile('Finished per minute', finishedLastMinute, '/console/operations?status=success', chart(buckets, 'finished'))}
${tile('Failed today', history.failedToday, `/console/operations?status=failed&failed_on=${history.today}`, chart(buckets, 'failed'))}
</div>`
}

const tile = (title: string, figure: number | null, href: string, picture: Html): Html =>
  html`<section class="tile"><h2>${title}</h2><p class="big"><a href="${href}" aria-label="${title}: ${figure === null ? 'show them' : countText(figure)}">${figure === null ? 'show' : countText(figure)}</a></p>${picture}</section>`

type Series = 'accepted' | 'finished' | 'failed'

function chart(buckets: TimeBucket[], series: Series): Html {
  const highest = Math.max(1, ...buckets.map(bucket => bucket[series]))
  const step = WIDTH / Math.max(1, buckets.length)
  const label = `${series} in steps of ten minutes over six hours: ${count(sumOf(buckets, series))}, at most ${count(highest)} in one step`
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT + LABELS}" role="img" aria-label="${label}">
${buckets.map((bucket, i) => {
  const height = Math.round((HEIGHT * bucket[series]) / highest)
  return html`<rect class="${series}" x="${(i * step).toFixed(1)}" y="${HEIGHT - height}" width="${(step - 1).toFixed(1)}" height="${height}"></rect>`
})}
<text x="0" y="${HEIGHT + LABELS - DESCENT}">6 h ago</text><text x="${WIDTH}" y="${HEIGHT + LABELS - DESCENT}" text-anchor="end">now</text>
</svg>`
}

const sumOf = (buckets: TimeBucket[], series: Series): number =>
  buckets.reduce((sum, bucket) => sum + bucket[series], 0)
