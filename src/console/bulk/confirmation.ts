import { html } from 'hono/html'
import { newId } from '../../ids.ts'
import { count as inDigits } from '../frame/formats.ts'
import { hiddenFields } from '../frame/forms/hidden-fields.ts'
import type { Html } from '../frame/html.ts'
import { quoted } from '../text/quoted.ts'
import { type CountedItems, MAX_BULK_ITEMS } from './bulk-store.ts'
import { DECISIONS, type DecisionName } from './decisions.ts'
import { matchingList } from './matching-list.ts'

export function confirmation(
  wanted: { decision: DecisionName; note?: string },
  { count, digest }: CountedItems,
): Html {
  const { decision, note, ...filter } = wanted
  const { about, effect } = DECISIONS[decision]
  const back = `/console/${about}?${new URLSearchParams(filter as Record<string, string>)}`
  if (count === 0)
    return html`<h1>Bulk action</h1><p>This decision applies to none of the matching ${about}.</p><p><a href="${back}">Back to the list</a></p>`
  if (count > MAX_BULK_ITEMS)
    return html`<h1>Bulk action</h1><p>More than ${inDigits(MAX_BULK_ITEMS)} ${about} match: narrow the filter.</p><p><a href="${back}">Back to the list</a></p>`
  return html`<h1>Bulk action</h1>
<p class="big"><strong>${inDigits(count)}</strong> ${about}</p>
<p>${Object.keys(filter).length === 0 ? `No filter is set: these are all ${about} that the decision applies to.` : html`The filter: ${matchingList(decision, filter as Record<string, string>)}.`}</p>
<p>Each of them will be ${effect}. ${note === undefined ? '' : html`The note is: ${quoted(note)}.`} You can stop it while it runs; decisions already made remain.</p>
<form class="box" method="post" action="/console/bulk">
${hiddenFields(Object.entries({ ...wanted, count, digest, id: newId() }))}
<button type="submit">Confirm for ${inDigits(count)}</button> <a href="${back}">Go back</a></form>`
}
