import t from 'tap'
import { operationCatalogue } from '../../src/operations/catalogue.ts'
import { kinds } from '../../src/portfolio/kinds/kinds.ts'

t.test('every column of a file goes into an operation of its row', t => {
  for (const { type, columns, reader } of kinds) {
    const { steps } = reader(operationCatalogue(new Map()))
    const example = Object.fromEntries(columns.map(({ name, example }) => [name, example]))
    const dataOf = (fields: Record<string, string>) =>
      JSON.stringify(steps(fields).map(({ data }) => data))
    for (const { name, example: cell } of columns)
      t.not(dataOf({ ...example, [name]: `${cell}1` }), dataOf(example), `${name} of ${type}`)
  }
  t.end()
})
