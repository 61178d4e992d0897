import { describe, expect, test } from 'vitest'
import { Workshop } from '../support/daemon.ts'
import { until } from '../support/processes.ts'
import { WebWorld } from '../support/web-world.ts'

const workshop = new Workshop()

interface Entry {
  readonly serviceId: string
  readonly available?: boolean
  readonly unavailableReason?: string
}

/** Waits until a daemon's entry of a service meets a condition. */
async function entryOf(url: string, id: string, isIt: (entry: Entry) => boolean): Promise<Entry> {
  return until(`${id} is listed as expected`, async () => {
    const { services } = (await (await fetch(`${url}/services.json`)).json()) as { services: Entry[] }
    const entry = services.find(({ serviceId }) => serviceId === id)
    return entry !== undefined && isIt(entry) ? entry : undefined
  })
}

describe('services that read the web', () => {
  test('are offered where the name system answers', async () => {
    const world = await WebWorld.open({ 'news.example': { pages: (_request, response) => response.end('a') } })
    const daemon = await workshop.start(workshop.folder(), { env: world.env })
    expect(await entryOf(daemon.url, 'node-web-fetch', ({ available }) => available === true)).toBeDefined()
    await daemon.stop()
    await world.close()
  })

  test('are openly unavailable on a machine without the internet, with the reason', async () => {
    const env = { TEST_INTERNET: JSON.stringify({ names: {}, ports: {}, isDown: true }) }
    const daemon = await workshop.start(workshop.folder(), { env })
    const isTold = ({ unavailableReason }: Entry): boolean => unavailableReason?.includes('cannot be asked') === true
    expect(await entryOf(daemon.url, 'node-web-fetch', isTold)).toMatchObject({ available: false })
    await daemon.stop()
  })
})
