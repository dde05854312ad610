import type { NewOperation } from '../../engine/accept.ts'
import type { Attempt, Operation } from '../../engine/operation.ts'
import type { Effect } from '../../ledger/effect.ts'
import type { Looker } from './looker.ts'

export function findEffect(
  looker: Looker,
  { id, operationType, data }: NewOperation,
): Promise<Effect> {
  const operation = looker.catalogue.get(operationType) as Operation
  const run: Attempt = {
    ledger: looker.ledger,
    reference: looker.reference,
    id,
    origin: 'migration',
    // The key is unused, because nothing is written.
    key: '',
    takesEqualAsDone: true,
    mayStillRun: false,
    kept: {},
    keep: (_name, read) => read(),
    seen: null,
    remember: async () => undefined,
    passedOn: undefined,
    passOn: () => undefined,
  }
  return (operation.findEqual ?? operation.find)(run, data)
}
