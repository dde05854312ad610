import { clientSubject, operation } from '../engine/operation.ts'
import { refusal } from '../engine/refusal.ts'
import { refuseLagging } from '../engine/refuse-lagging.ts'
import { DayField } from '../http/fields/day-fields.ts'
import { change, updateOf } from '../http/fields/schemas.ts'
import { ClientId, Text } from '../http/fields/text-fields.ts'
import {
  type ClientFields,
  clientAnswer,
  findClient,
  hasClientFields,
  type LedgerClient,
  readClient,
  updateClient,
} from '../ledger/client-record.ts'
import { dayFormat } from '../ledger/day-format.ts'
import { absent, there } from '../ledger/effect.ts'

const UPDATE = 'CLIENT_UPDATE'

export const clientUpdate = operation({
  name: UPDATE,
  summary: 'Changes a client’s name, contact or activation date',
  permissions: ['UPDATE_CLIENT'],
  schema: updateOf(ClientId, {
    activationDate: change(DayField),
    firstname: change(Text(50, 'Asha')),
    lastname: change(Text(50, 'Rao')),
    mobileNo: change(Text(50, '+919876543210')),
    emailAddress: change(Text(150, 'asha@example.in')),
  }),
  externalId: data => data.externalId,
  subject: data => clientSubject(data.externalId),

  async run(attempt, { externalId, ...changes }) {
    const found = await readClient(attempt.ledger, externalId)
    if (found.outcome === 'refused') return found
    if (changes.activationDate !== undefined && found.body.active === false) return notActive
    await refuseLagging<ClientFields>(attempt, UPDATE, found, ({ firstname = '', lastname = '' }) =>
      hasClientFields(found.body, {
        ...(firstname && { firstname }),
        ...(lastname && { lastname }),
      }),
    )
    const names = namesOf(found.body, changes)
    const differs = ([name, value]: [string, string]) =>
      !hasClientFields(found.body, { [name]: value })
    const changed = Object.entries(changes)
      .filter(differs)
      .map(([name]) => name)
    return updateClient(attempt, externalId, { ...names, ...changes, ...dayFormat }, changed)
  },

  async find({ ledger }, { externalId, ...changes }) {
    const client = await findClient(ledger, externalId)
    if (client === undefined) return absent
    if (!hasClientFields(client, changes)) return absent
    const format = changes.activationDate === undefined ? {} : dayFormat
    return there({ ...clientAnswer(client), changes: { ...changes, ...format } })
  },
})

/** For a client that is pending or closed, the ledger would answer 200 and leave it so. */
const notActive = refusal(
  '409',
  'loanops.client.not.active',
  'The client is not active at the ledger: an update does not activate it, and cannot change its activation date',
)

/**
 * Fineract wants both names if one is sent, and ignores an e-mail address or activation date that comes without a name or
 * mobile number.
 */
function namesOf(client: LedgerClient, changes: ClientFields): object {
  const { firstname, lastname, fullname, displayName } = client
  const isNamed = changes.firstname !== undefined || changes.lastname !== undefined
  if (!isNamed && changes.mobileNo !== undefined) return {}
  if (firstname !== undefined || lastname !== undefined) return { firstname, lastname }
  return isNamed ? {} : { fullname: fullname ?? displayName }
}
