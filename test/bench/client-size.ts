import { measureEntries } from '../../src/package/client-bundle.ts'

/** Size limit of the client without the post-quantum signer, in bytes of gzip. */
const CLIENT_BYTES_MAX = 75_000

const sizes = await measureEntries()
for (const { entry, minified, gzip, parts } of sizes) {
  process.stdout.write(`${entry}: ${minified} bytes minified, ${gzip} gzip\n`)
  for (const [name, bytes] of parts) process.stdout.write(`  ${String(bytes).padStart(7)}  ${name}\n`)
}
const client = sizes.find(({ entry }) => entry === 'client')
if (client === undefined || client.gzip > CLIENT_BYTES_MAX) {
  process.stderr.write(`the client is over ${CLIENT_BYTES_MAX} bytes of gzip\n`)
  process.exitCode = 1
}
