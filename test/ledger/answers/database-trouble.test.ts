import t from 'tap'
import { isPassingTrouble } from '../../../src/ledger/answers/database-trouble.ts'

const PASSING = [
  'This connection has been closed.',
  'An I/O error occurred while sending to the backend.',
  'FATAL: terminating connection due to administrator command',
  'ERROR: cannot execute INSERT in a read-only transaction',
  'FATAL: the database system is shutting down',
  'FATAL: the database system is in recovery mode',
  'Connection to db:5432 refused. Check that the hostname and port are correct.',
  'The connection attempt failed.',
  'FATAL: sorry, too many clients already',
  'FATAL: remaining connection slots are reserved for roles with SUPERUSER',
  'ERROR: canceling statement due to statement timeout',
  'ERROR: could not extend file "base/1/2": No space left on device',
  'ERROR: deadlock detected\n  Detail: Process 7 waits for ShareLock on transaction 8',
  'ERROR: could not serialize access due to concurrent update',
  'ERROR: cached plan must not change result type',
  'ERROR: prepared statement "S_3" does not exist',
  'ERROR: out of shared memory',
  'Communications link failure\n\nThe last packet sent successfully to the server was 0 ms ago.',
  'No operations allowed after connection closed.',
  '(conn=17) The MariaDB server is running with the --read-only option so it cannot execute this statement',
  'Deadlock found when trying to get lock; try restarting transaction',
  'Lock wait timeout exceeded; try restarting transaction',
  '(conn=5) unexpected end of stream, read 0 bytes from 4 (socket was closed by server)',
  'The table ‘m_loan’ is full',
  'FATAL: the database system is not yet accepting connections',
  'WSREP has not yet prepared node for application use',
  'WSREP replication failed. Check your wsrep connection state and retry the query.',
  'Server shutdown in progress',
  'Query execution was interrupted',
  '(conn=9) Connection was killed',
  'Lost connection to backend server: network error (db-1)',
  'The active SQL connection has changed due to a connection failure. Please re-configure session state if required.',
  'HikariPool-1 - Connection is not available, request timed out after 30000ms',
]
const LASTING = [
  'ERROR: value too long for type character varying(50)',
  'ERROR: duplicate key value violates unique constraint "connection"\n  Detail: Key (external_id)=(closed) already exists.',
  'ERROR: null value in column "x" violates not-null constraint',
  'ERROR: numeric field overflow',
  'The given id must not be null',
  'Unknown data integrity issue with resource: Repayment',
  'Data too long for column ‘receipt_number’ at row 1',
  'Duplicate entry ‘Deadlock’ for key ‘external_id’',
  'Cannot add or update a child row: a foreign key constraint fails',
]

t.test('a database’s passing trouble is told from its refusal of a value', async t => {
  for (const message of PASSING) t.ok(isPassingTrouble(message), message)
  for (const message of LASTING) t.notOk(isPassingTrouble(message), message)
})
