import { Agent, request } from 'node:http'

/** One request of a load. `tookMs` counts from the moment when the request was due. */
export interface Sample {
  readonly dueMs: number
  readonly tookMs: number
  /** 0 if the connection broke. */
  readonly status: number
  readonly retryAfter: string | undefined
}

/** Open connections to the node, as a proxy in front of it holds them. */
const CONNECTIONS = 256

/**
 * Sends requests at a steady pace, as a crowd does, even if earlier ones have no answer. When the node falls behind,
 * requests wait for a connection. Times count from the moment when a request was due.
 */
export async function openLoad(
  url: string,
  { path, perSecond, seconds }: { readonly path: string; readonly perSecond: number; readonly seconds: number },
): Promise<readonly Sample[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS })
  const opening = Array.from({ length: CONNECTIONS }, () => once(agent, `${url}/health`, performance.now(), 0))
  await Promise.all(opening)
  const beganMs = performance.now()
  const total = Math.floor(perSecond * seconds)
  const asked: Promise<Sample>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - beganMs) / 1_000) * perSecond))
      while (asked.length < due) asked.push(once(agent, `${url}${path}`, beganMs, (asked.length * 1_000) / perSecond))
      if (asked.length < total) return
      clearInterval(timer)
      resolve()
    }, 5)
  })
  const samples = await Promise.all(asked)
  agent.destroy()
  return samples
}

/** Requests per second that a node answers to four clients, each of which asks again after every answer. */
export async function closedLoad(url: string, path: string, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const beganMs = performance.now()
  const endMs = beganMs + seconds * 1_000
  let answered = 0
  const lane = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const { status } = await once(agent, `${url}${path}`, performance.now(), 0)
      if (status !== 200) throw new Error(`status ${status} while nothing is overloaded`)
      answered += 1
    }
  }
  await Promise.all(Array.from({ length: 4 }, lane))
  agent.destroy()
  return answered / ((performance.now() - beganMs) / 1_000)
}

function once(agent: Agent, url: string, beganMs: number, dueMs: number): Promise<Sample> {
  return new Promise((resolve) => {
    const done = (status: number, retryAfter?: string): void =>
      resolve({ dueMs, tookMs: performance.now() - beganMs - dueMs, status, retryAfter })
    const sent = request(url, { agent, headers: { 'accept-encoding': 'gzip' } }, (response) => {
      response.resume()
      response.on('end', () => done(response.statusCode ?? 0, response.headers['retry-after']))
      response.on('error', () => done(0))
    })
    sent.on('error', () => done(0))
    sent.end()
  })
}
