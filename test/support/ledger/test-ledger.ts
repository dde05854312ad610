const { TEST_LEDGER_URL, TEST_LEDGER_USERNAME, TEST_LEDGER_PASSWORD, TEST_LEDGER_TENANT } =
  process.env

/** A real ledger, if the contract tests are to run against one. */
export const testLedger =
  TEST_LEDGER_URL === undefined || TEST_LEDGER_URL === ''
    ? undefined
    : {
        url: TEST_LEDGER_URL,
        username: TEST_LEDGER_USERNAME ?? 'mifos',
        password: TEST_LEDGER_PASSWORD ?? 'password',
        tenant: TEST_LEDGER_TENANT ?? 'default',
      }
