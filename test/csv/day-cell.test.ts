import t from 'tap'
import { dayOf, timeOf } from '../../src/csv/day-cell.ts'

t.test('a day survives a spreadsheet: with the name of its month, or in ISO', t => {
  const next = new Date().getFullYear() + 1
  const read = {
    '05 January 2024': '2024-01-05',
    '05-Jan-24': '2024-01-05',
    '5-jan-2024': '2024-01-05',
    '05-Sept-24': '2024-09-05',
    '5 Jan 2024': '2024-01-05',
    '5\u00a0Jan\u00a02024': '2024-01-05',
    '05\u202fJanuary 2024\u00a000:00': '2024-01-05',
    '05/JANUARY/2024': '2024-01-05',
    '29-Feb-96': '1996-02-29',
    [`01-Mar-${next % 100}`]: `${next}-03-01`,
    [`01-Mar-${(next + 1) % 100}`]: `${next + 1 - 100}-03-01`,
    '2024-01-05': '2024-01-05',
    '2024-01-05T00:00:00': '2024-01-05',
    '2024-01-05 00:00': '2024-01-05',
    '2024-01-05 00:00:00.000': '2024-01-05',
    '05-Jan-2024 00:00': '2024-01-05',
    '5/Jan/24 12:00:00 AM': '2024-01-05',
  }
  for (const [text, iso] of Object.entries(read)) t.equal(dayOf(text)?.iso, iso, text)
  const refused = [
    '03-04-2025',
    '25-04-2025',
    '03/04/25',
    '45296',
    '2024-01-05 10:00',
    '2024-01-05T00:00:01',
    '05-Jan-24 00:01',
    '05-Jan-24 12:00:00',
    '05-Jan-24 12:00:00 PM',
    '05-01-2024 00:00',
    '2024-01-05 00:00:00 00:00',
    '30-Feb-24',
    '05-Jan 24',
    'Jan 5 2024',
    '5-J-24',
    '5-Janu-24',
    '05-Jan-024',
    '2024/01/05',
    '20240105',
  ]
  for (const text of refused) t.equal(dayOf(text), undefined, text)
  t.end()
})

t.test('the time of a statement takes the same days, and a zone if it names one', t => {
  const read = {
    '05-Jan-24 10:00': '2024-01-05 10:00:00',
    '5/January/2024 9:05:30 PM': '2024-01-05 21:05:30',
    '5 Jan 2024 12:00 am': '2024-01-05 00:00:00',
    '2024-01-05T10:00:00.5+05:30': '2024-01-05 10:00:00.5+05:30',
    '2024-01-05 10:00Z': '2024-01-05 10:00:00Z',
  }
  for (const [text, time] of Object.entries(read)) t.equal(timeOf(text), time, text)
  const refused = [
    '05-01-2024 10:00',
    '05-Jan-24',
    '2024-01-05',
    '05-Jan-24 24:00',
    '05-Jan-24 13:00 PM',
    '05-Jan-24 10:60',
    '2024-01-05 00:00:00 10:00',
    '45296.5',
  ]
  for (const text of refused) t.equal(timeOf(text), undefined, text)
  t.end()
})
