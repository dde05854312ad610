import { sql } from 'kysely'
import type { CallbackSettings } from '../config/settings/callback-settings.ts'
import type { Database } from '../database/database.ts'
import type { WorkerContext } from '../engine/feature.ts'
import { callbackCounters } from './callbacks-feature.ts'
import { deliverCallbacks } from './sending/deliver-callbacks.ts'

export async function runCallbacks({ db, config, metrics, traces, log }: WorkerContext) {
  await copyTypes(db, config.callbacks)
  if (config.callbacks === undefined) return { stop() {} }
  const { attempts } = metrics.of(callbackCounters)
  return deliverCallbacks(db, config.callbacks, {
    traces,
    log,
    onResult: outcome => attempts.inc({ outcome }),
  })
}

/** Copies the wanted types to the database, whose triggers save callbacks of these types only. */
async function copyTypes(db: Database, settings: CallbackSettings | undefined): Promise<void> {
  const types = settings?.types ?? []
  await sql`
    update loanops.callback_receiver set types = ${types}
     where types <> ${types}::text[]`.execute(db)
}
