const PERSON = { id: 1, code: 'legalFormType.person', value: 'Person' }
const ENTITY = { id: 2, code: 'legalFormType.entity', value: 'Entity' }

export function legalForm(id: number) {
  return id === PERSON.id ? PERSON : ENTITY
}
