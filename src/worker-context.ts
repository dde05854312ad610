import type { Feature, WorkerContext, WorkerServices } from './engine/feature.ts'
import { openReference } from './ledger/reference/reference.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { openSetUpBehind } from './operations/set-up-behind.ts'

export function workerContext(
  services: WorkerServices & Pick<WorkerContext, 'config' | 'onFinal'>,
  features: Feature[],
): WorkerContext {
  const { db, ledger, config } = services
  const catalogue = operationCatalogue(config.lenders)
  const own = features.flatMap(({ operations }) => operations?.(db, config) ?? [])
  return {
    ...services,
    reference: openReference(ledger, config),
    catalogue,
    runnable: new Map([
      ...catalogue,
      ...own.map(operation => [operation.name, operation] as const),
    ]),
    setUpBehind: openSetUpBehind(db, config.LEDGER_TIMEZONE),
    purges: features.flatMap(({ purge }) => purge ?? []),
  }
}
