import { sql } from 'kysely'
import { Counter, type Registry } from 'prom-client'
import { purgeBy } from '../database/purge-in-steps.ts'
import type { Feature } from '../engine/feature.ts'
import { PERSONAL_MEMBERS } from './personal-members.ts'

const MAX_NAMES = 100
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.]{0,63}$/

export function operationCounters(registers: Registry[]) {
  const counter = new Counter({
    name: 'loanops_ignored_members_total',
    help: 'Unknown members of operations that UNKNOWN_FIELDS=ignore dropped, by member; other: names after the first hundred, and those with unusual characters',
    labelNames: ['member'],
    registers,
  })
  const names = new Set<string>()

  return {
    ignored(members: string[]): void {
      for (const name of members) {
        if (names.size < MAX_NAMES && PLAIN_NAME.test(name)) names.add(name)
        counter.inc({ member: names.has(name) ? name : 'other' })
      }
    },
  }
}

/** Purges operations, except what is needed to reconcile with the ledger: ids, amounts, dates, result and attempts. */
export const purgeOperations = purgeBy(
  (retentionDays, most) => sql`
    update loanops.operation o
       set data = (select coalesce(json_object_agg(name, value), '{}')
                     from jsonb_each(data::jsonb) as member (name, value) where name !~* ${PERSONAL_MEMBERS.source}),
           response = case
             when status = 'success' then (response::jsonb - 'changes')::json
             -- An error's text and arguments repeat what was sent; its code does not.
             else json_build_object('httpStatusCode', response -> 'httpStatusCode', 'errors', (
               select coalesce(json_agg(json_build_object(
                        'userMessageGlobalisationCode', e -> 'userMessageGlobalisationCode')), '[]')
                 from json_array_elements(response -> 'errors') e))
           end,
           error_message = case when status = 'failed' then
             'Refused with ' || coalesce(response ->> 'httpStatusCode', 'an error') || '; the details have been purged' end,
           last_error = null,
           seen = null,
           purged_at = now()
     where id in (
       select id from loanops.operation
        where status <> 'processing' and purged_at is null
          and processed_at < now() - ${retentionDays} * interval '1 day'
        order by processed_at limit ${most}
          for update skip locked)`,
)

export const operationsFeature: Feature = {
  purge: { setting: 'OPERATION_RETENTION_DAYS', kind: 'operations', run: purgeOperations },
}
