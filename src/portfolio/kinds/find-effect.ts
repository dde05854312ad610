import type { NewOperation } from '../../engine/accept.ts'
import { attemptOutside } from '../../engine/attempt/attempt-outside.ts'
import type { Operation } from '../../engine/operation.ts'
import type { Effect } from '../../ledger/effect.ts'
import type { Looker } from './looker.ts'

export function findEffect(
  { catalogue, ledger, reference }: Looker,
  { id, operationType, data }: NewOperation,
): Promise<Effect> {
  const operation = catalogue.get(operationType) as Operation
  const attempt = attemptOutside({
    ledger,
    reference,
    id,
    origin: 'migration',
    // The key is unused, because nothing is written.
    key: '',
    takesEqualAsDone: true,
  })
  return (operation.findEqual ?? operation.find)(attempt, data)
}
