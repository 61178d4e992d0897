import { writeFileSync } from 'node:fs'
import type { RunningDaemon, StartOptions, Workshop } from './daemon.ts'
import { keyOf } from './daemon-key.ts'
import { until } from './processes.ts'
import { FakeOpenAi, HOUSE_MODEL } from './upstreams/openai.ts'

/** A daemon in a process of its own. Its models are at a fake server in this process. */
export class ChatDaemon {
  daemon: RunningDaemon
  readonly fake: FakeOpenAi
  readonly key: string
  readonly #begin: (folder: string) => Promise<RunningDaemon>

  private constructor(
    made: Pick<ChatDaemon, 'daemon' | 'fake' | 'key'>,
    begin: (folder: string) => Promise<RunningDaemon>,
  ) {
    this.daemon = made.daemon
    this.fake = made.fake
    this.key = made.key
    this.#begin = begin
  }

  /** Starts the daemon, waits until all models that it lists are available, and makes a key. */
  static async start(workshop: Workshop, options: StartOptions = {}): Promise<ChatDaemon> {
    const fake = await FakeOpenAi.open()
    const path = workshop.path('models.json')
    writeFileSync(path, modelsFile([fake.url]))
    const env = { ...CHAT_UNLIMITED, FARTHING_MODELS_FILE: path, HOUSE_KEY: fake.key, ...options.env }
    const begin = (folder: string): Promise<RunningDaemon> => workshop.start(folder, { mine: 0, ...options, env })
    const daemon = await begin(workshop.folder())
    await modelsKnown(daemon)
    return new ChatDaemon({ daemon, fake, key: await keyOf(daemon) }, begin)
  }

  get url(): string {
    return this.daemon.url
  }

  post(body: unknown, init: RequestInit = {}): Promise<Response> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.key}`, ...init.headers }
    return fetch(`${this.url}/api/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
      ...init,
      headers,
    })
  }

  /** Starts it on its folder after it was killed. It has another address then. */
  async startAgain(): Promise<void> {
    this.daemon = await this.#begin(this.daemon.dataDir)
    await modelsKnown(this.daemon)
  }

  async close(): Promise<void> {
    await this.daemon.stop()
    await this.fake.close()
  }
}

function modelsKnown({ url }: RunningDaemon): Promise<true> {
  return until('the models were looked at', async () => {
    const { data } = (await (await fetch(`${url}/v1/models`)).json()) as ModelList
    return data.every(({ x_platform }) => x_platform.available) && true
  })
}

interface ModelList {
  readonly data: readonly { readonly id: string; readonly x_platform: { readonly available: boolean } }[]
}

/** Limits of keys that a test reaches only when it lowers them. */
export const CHAT_UNLIMITED = {
  FARTHING_CHAT_KEY_RPM: '1000000',
  FARTHING_CHAT_KEY_TPD: '100000000000',
  FARTHING_CHAT_KEY_CONCURRENT_MAX: '1000',
}

/** A models file for these servers. Each has a model for every role and one that speaks; their key is in HOUSE_KEY. */
export function modelsFile(urls: readonly string[], concurrency = 16): string {
  const model = {
    id: HOUSE_MODEL,
    roles: ['fast', 'general', 'code', 'reason', 'judge', 'vision'],
    context: 32_000,
    supports: ['tools', 'jsonSchema', 'vision', 'streamUsage'],
  }
  const voice = { id: 'house-voice', roles: ['speech'], context: 4_096, voices: ['alloy', 'nova'] }
  const backends = urls.map((baseUrl, i) => ({
    ...{ id: `house-${i}`, baseUrl, keyRef: 'env:HOUSE_KEY', models: [model, voice], concurrency },
  }))
  return JSON.stringify({ backends })
}
