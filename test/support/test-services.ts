import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { Type } from 'typebox'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { ok } from '../../consensus/primitives/result.ts'
import { unusable } from '../../marketplace/services/requests.ts'
import { defineService, type ServiceDefinition } from '../../marketplace/services/service.ts'

const FACTS = {
  capability: 'utility',
  priceUsdMicros: 2_000n,
  requestFormat: 'ok | fail | hang | wrong | huge | slow:<ms> | refuse',
  example: 'ok',
  resultBytesMax: 10_000,
  timeoutMs: 3_000,
  requestCharsMax: 10_000,
} as const

/** A file that gets a line each time a test service begins its work. */
const RUNS_FILE = process.env.TEST_RUNS_FILE

async function work(serviceId: string, request: string): Promise<{ echo: string; filler?: string }> {
  if (RUNS_FILE !== undefined) appendFileSync(RUNS_FILE, `${serviceId} ${request}\n`)
  const [mode, ms] = request.split(':')
  if (mode === 'fail') throw new Error('it was told to fail')
  if (mode === 'hang') await setTimeout(60_000, undefined, { ref: false })
  if (mode === 'slow') await setTimeout(Number(ms))
  if (mode === 'wrong') return { echo: 7 as never }
  if (mode === 'huge') return { echo: 'x'.repeat(20_000) }
  return { echo: request }
}

function testService(name: string, repeatable: boolean): ServiceDefinition {
  const serviceId = `node-test-${name}` as ServiceId
  return defineService({
    ...FACTS,
    serviceId,
    name: `Test ${name}`,
    description: 'Does what its request says, well or badly.',
    brief: 'Does what its request says.',
    words: '',
    sample: { echo: 'ok' },
    repeatable,
    parse: (request) => (request === 'refuse' || request === '' ? unusable('nothing to do', FACTS) : ok(request)),
    ready: () => ({ available: true, engine: 'test' }),
    resultSchema: Type.Object({ echo: Type.String() }),
    execute: (request) => work(serviceId, request),
  })
}

/** Services that fail on demand: one that may run again after a crash, one that may not, and one that is never available. */
export const TEST_SERVICES: readonly ServiceDefinition[] = [
  testService('again', true),
  testService('once', false),
  {
    ...testService('closed', true),
    ready: () => ({ available: false, reason: 'its provider is down', requires: ['providers.rates', 'models.file'] }),
  },
]

/** While this file exists, every service that {@link failingOnDemand} wraps fails. */
const FAILING_FILE = process.env.TEST_FAILING_FILE

/** The service, but it fails while {@link FAILING_FILE} exists. */
export function failingOnDemand(definition: ServiceDefinition): ServiceDefinition {
  if (FAILING_FILE === undefined) return definition
  return {
    ...definition,
    keptPerHead: false,
    execute: (...call) => {
      if (existsSync(FAILING_FILE)) throw new Error('it was told to fail')
      return definition.execute(...call)
    },
  }
}
