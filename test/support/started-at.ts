/** Loaded before a test's program (`--import`). Starts its clock at TEST_STARTED_AT_MS. */
const startedAtMs = process.env.TEST_STARTED_AT_MS
if (startedAtMs !== undefined) {
  const now = Date.now
  const aheadMs = Number(startedAtMs) - now()
  Date.now = () => now() + aheadMs
}
