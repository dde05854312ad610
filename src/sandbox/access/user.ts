import { HEAD_OFFICE_ID } from '../reference/office.ts'

export type Role = { id: number; name: string; description: string; permissions: string[] }

export type User = {
  id: number
  username: string
  password: string
  firstname: string
  lastname: string
  email?: string | undefined
  officeId: number
  roleIds: number[]
}

export type Administrator = Pick<User, 'username' | 'password'>

export function superUser(administrator: Administrator): User {
  const name = { firstname: 'App', lastname: 'Administrator' }
  return { id: 1, ...administrator, ...name, officeId: HEAD_OFFICE_ID, roleIds: [1] }
}

export const firstRoles: Role[] = [
  {
    id: 1,
    name: 'Super user',
    description: 'This role provides all application permissions.',
    permissions: ['ALL_FUNCTIONS'],
  },
]
