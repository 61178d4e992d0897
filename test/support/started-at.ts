/** Loaded before a program of a test (`--import`): its clock begins at the time that TEST_STARTED_AT_MS names, and goes on from there. */
const startedAtMs = process.env.TEST_STARTED_AT_MS
if (startedAtMs !== undefined) {
  const now = Date.now
  const aheadMs = Number(startedAtMs) - now()
  Date.now = () => now() + aheadMs
}
