import { Unavailable } from '../../database/unavailable.ts'
import { addressKey } from '../../http/connections/address-key.ts'
import { openCounts } from '../../http/connections/open-counts.ts'

/** A quarter of the callers that may wait for a hash: nobody fills the line alone. */
const MAX_OF_ONE_ADDRESS = 25

export function addressLine() {
  const inLine = openCounts()
  return async <T>(address: string | null, task: () => Promise<T>): Promise<T> => {
    const key = addressKey(address)
    if (inLine.of(key) >= MAX_OF_ONE_ADDRESS)
      throw new Unavailable('too many logins from one address are waiting')
    inLine.add(key, 1)
    try {
      return await task()
    } finally {
      inLine.add(key, -1)
    }
  }
}
