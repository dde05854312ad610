import { Unavailable } from '../../database/unavailable.ts'
import { addressKey } from '../../http/connections/address-key.ts'

/** A quarter of the callers that may wait for a hash: nobody fills the line alone. */
const MAX_OF_ONE_ADDRESS = 25

type AddressLine = <T>(address: string | null, task: () => Promise<T>) => Promise<T>

export function addressLine(): AddressLine {
  const inLine = new Map<string, number>()
  return async (address, task) => {
    const key = addressKey(address)
    const before = inLine.get(key) ?? 0
    if (before >= MAX_OF_ONE_ADDRESS)
      throw new Unavailable('too many logins of one address are waiting')
    inLine.set(key, before + 1)
    try {
      return await task()
    } finally {
      const left = (inLine.get(key) ?? 1) - 1
      if (left === 0) inLine.delete(key)
      else inLine.set(key, left)
    }
  }
}
