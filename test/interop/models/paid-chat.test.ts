import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Caller, marketOpen } from '../../support/caller.ts'
import { Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import { ROOT } from '../../support/source-tree.ts'
import { tinyGguf } from './tiny-gguf.ts'

const workshop = new Workshop()
const entry = join(ROOT, 'test/interop/models/daemon-entry.ts')
const SERVICE = 'node-llm-chat'
const path = workshop.path('tiny.gguf')
writeFileSync(path, tinyGguf())

interface Entry {
  readonly serviceId: string
  readonly available?: boolean
  readonly unavailableReason?: string
}

/** Waits until the service's entry meets a condition: the model is examined in the background. */
function offered(url: string, isIt: (entry: Entry) => boolean): Promise<Entry> {
  return until('the model was looked at', async () => {
    const { services } = (await (await fetch(`${url}/services.json`)).json()) as { services: Entry[] }
    return services.find((one) => one.serviceId === SERVICE && isIt(one))
  })
}

it('sells what a model in its own process says', async () => {
  const env = { TEST_FAST_BLOCKS: '1', TEST_FIXTURE_MODELS: 'true', FARTHING_MODELS_GGUF: path }
  const daemon = await workshop.start(workshop.folder(), { entry, env })
  await marketOpen(daemon.url)
  await offered(daemon.url, ({ available }) => available === true)
  const buyer = new Caller(daemon.url, 1)
  const payment = await buyer.payMined({ serviceId: SERVICE, request: 'Say something.' })
  const reply = await buyer.settle(payment)
  expect(reply).toMatchObject({ status: 200 })
  expect(reply.body).toMatchObject({
    paid: true,
    result: { engine: 'gguf', model: 'farthing-fixture-tiny', usage: { estimated: false } },
  })
  await daemon.stop()
})

it('does not offer a model that is made for tests, and says why to its operator alone', async () => {
  const env = { TEST_FAST_BLOCKS: '1', FARTHING_MODELS_GGUF: path }
  const daemon = await workshop.start(workshop.folder(), { entry, env })
  await until('the log says why', () => daemon.program.stderr.includes('the model is made for tests'))
  const offer = await offered(daemon.url, ({ unavailableReason }) => unavailableReason?.includes('gguf') === true)
  expect(offer.available).toBe(false)
  expect(JSON.stringify(offer)).not.toContain('made for tests')
  await daemon.stop()
})
