export type Office = {
  id: number
  name: string
  externalId?: string | undefined
  openingDate: string
  parentId?: number | undefined
  // The ids of the offices above it and its own: .2.5.
  hierarchy: string
}

export const HEAD_OFFICE_ID = 1

export const firstOffices: Office[] = [
  {
    id: HEAD_OFFICE_ID,
    name: 'Head Office',
    externalId: '1',
    openingDate: '2009-01-01',
    hierarchy: '.',
  },
]

export function below(parent: Office, office: Omit<Office, 'parentId' | 'hierarchy'>): Office {
  return { ...office, parentId: parent.id, hierarchy: `${parent.hierarchy}${office.id}.` }
}
