import { clientSubject, operation } from '../engine/operation.ts'
import { DayField } from '../http/fields/day-fields.ts'
import { only, optionalText } from '../http/fields/schemas.ts'
import { ClientId, Text } from '../http/fields/text-fields.ts'
import {
  clientAnswer,
  clientDifferences,
  createClient,
  findClient,
  hasClientFields,
} from '../ledger/client-record.ts'
import { dayFormat } from '../ledger/day-format.ts'
import { absent, compared, there } from '../ledger/effect.ts'

/** Fineract's legal form of a person, not an entity. */
const PERSON = 1

export const clientCreate = operation({
  name: 'CLIENT_CREATE',
  summary: 'Creates an active client',
  permissions: ['CREATE_CLIENT', 'ACTIVATE_CLIENT'],
  schema: only({
    firstname: Text(50, 'Asha'),
    lastname: Text(50, 'Rao'),
    externalId: ClientId,
    activationDate: DayField,
    mobileNo: optionalText(Text(50, '+919876543210')),
    emailAddress: optionalText(Text(150, 'asha@example.in')),
  }),
  externalId: data => data.externalId,
  subject: data => clientSubject(data.externalId),
  writesAtOnce: true,

  async run(attempt, data) {
    const officeId = await attempt.keep('officeId', async () => attempt.reference.officeId)
    const person = { officeId, legalFormId: PERSON, active: true }
    return createClient(attempt, { ...person, ...data, ...dayFormat })
  },

  async find({ ledger }, data) {
    const client = await findClient(ledger, data.externalId)
    if (client === undefined) return absent
    if (!hasClientFields(client, data)) return absent
    const body = clientAnswer(client)
    return client.active === false ? { state: 'moved_on', body } : there(body)
  },

  async findEqual({ ledger }, data) {
    const client = await findClient(ledger, data.externalId)
    if (client === undefined) return absent
    return compared(clientAnswer(client), clientDifferences(client, data))
  },
})
