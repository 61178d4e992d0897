import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ChatDaemon, modelsFile } from '../support/chat-daemon.ts'
import { HELLO } from '../support/chat-server.ts'
import { Workshop } from '../support/daemon.ts'
import { until } from '../support/processes.ts'
import { FakeOpenAi } from '../support/upstreams/openai.ts'

const workshop = new Workshop()

describe('a node whose model begins to fail', () => {
  let chat: ChatDaemon

  beforeAll(async () => {
    chat = await ChatDaemon.start(workshop)
  })
  afterAll(() => chat.close())

  const told = () => chat.daemon.log.filter(({ msg }) => /^a provider can/.test(String(msg)))
  const requests = async (): Promise<unknown> => {
    const remaining = (await chat.post(HELLO)).headers.get('x-ratelimit-remaining-requests')
    return Number(remaining)
  }

  it('tells its operator once, and its callers when to come again, who lose nothing by it', async () => {
    chat.fake.profile = '401'
    expect((await chat.post(HELLO)).status).toBe(502)
    const line = await until('it is in the log', () => told()[0])
    expect(line).toMatchObject({ level: 40, provider: 'house-0', reason: expect.stringContaining('401') })
    expect(JSON.stringify(chat.daemon.log)).not.toContain(chat.fake.key)
    const before = await requests()
    const refused = await chat.post(HELLO)
    expect(refused.status).toBe(503)
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(1)
    expect(seconds).toBeLessThanOrEqual(60)
    expect(refused.headers.get('retry-after-ms')).toBe(String(seconds * 1_000))
    const { error } = (await refused.json()) as { readonly error: { readonly message: string } }
    expect(error.message).toContain(`its servers failed a moment ago and are tried again in ${seconds} s`)
    expect(await requests()).toBe(before)
    expect(told()).toHaveLength(1)
  })
})

describe('a model that is not there', () => {
  it('stops the start, where it is a file', async () => {
    const args = ['start', '--data-dir', workshop.folder(), '--models-gguf', workshop.path('none.gguf')]
    const { code, stderr } = await workshop.run(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining('none.gguf cannot be used: there is no such file')])
  })

  it('is named by the doctor, where a server does not list it', async () => {
    const fake = await FakeOpenAi.open()
    const path = workshop.path('doctor.json')
    writeFileSync(path, modelsFile([fake.url]))
    const args = [
      'doctor',
      'providers',
      '--web-enabled',
      'false',
      '--data-dir',
      workshop.folder(),
      '--models-file',
      path,
    ]
    const doctor = () => workshop.run(args, { env: { HOUSE_KEY: fake.key } })
    const listed = await doctor()
    expect([listed.code, listed.stdout]).toEqual([
      0,
      expect.stringMatching(/house-0 +warn .*does not list house-voice:/),
    ])
    fake.listing = { status: 200, text: '<html>' }
    const page = await doctor()
    expect([page.code, page.stdout]).toEqual([1, expect.stringMatching(/house-0 +ill .*with \/v1\?/)])
    await fake.close()
  })
})
