import { systemTimers } from '../../../src/daemon/runtime.ts'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import { begun, reserved, upTo } from '../../support/tab-calls.ts'

/** A replica that takes calls 1 to 4 of tab 1, begins the work of the last two, and then only waits. Even calls must not be done twice. */
const [url = '', leaseMs = ''] = process.argv.slice(2)
const place = postgresPlace(url)
if (!place.ok) throw new Error(place.fault.code)
const options = { place: place.value, network: 'test', home: 'killed', leaseMs: Number(leaseMs), timers: systemTimers }
const store = (await PostgresClaims.open(options)).tabs()
for (const seq of [1, 2, 3, 4]) {
  const call = reserved(seq, { isRepeatable: seq % 2 === 1, ceiling: 40 })
  const { is } = await store.reserve(call, upTo(40))
  if (is !== 'held') throw new Error(is)
  if (seq > 2) await store.begin(begun(call))
}
process.stdout.write('at work\n')
setInterval(() => {}, 60_000)
