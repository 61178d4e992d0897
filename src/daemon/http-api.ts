import { lookup } from 'node:dns/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { listenBeside } from '../../rpc/edge/http-server.ts'
import type { NodeApi } from '../../rpc/node/node-api.ts'
import { DEFAULT_HTTP_LIMITS } from '../../rpc/server/limits.ts'
import { createServer } from '../../rpc/server/server.ts'
import { isStorageFailure } from '../storage/folder.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { DaemonOptions, Stop } from './open-core.ts'

/** How long a stopping node waits for answers in progress. */
const ANSWERS_GRACE_MS = 300

/** Faults: `rpc/port-taken`, `rpc/address-unusable`. */
export async function listen(
  { config, logger, onFatal }: DaemonOptions,
  node: NodeApi,
  { metrics, stops }: { readonly metrics: Metrics; readonly stops: Stop[] },
): Promise<Result<string>> {
  const { host, port, rates: ratesPerMinute, delayMsMax, concurrentMax, trustProxy } = config.rpc
  const app = await createServer(node, {
    limits: { ...DEFAULT_HTTP_LIMITS, ratesPerMinute, delayMsMax, concurrentMax },
    trustProxy,
    onError: (error, requestId) => {
      logger.error({ requestId, error: error instanceof Error ? error.stack : String(error) }, 'error while answering')
      if (isStorageFailure(error)) onFatal(error)
    },
    onAnswer: (facts) => {
      metrics.answered(facts)
      logger.debug(facts, 'answered')
    },
    onShed: (kind) => metrics.shed(kind),
  })
  stops.push(() => closeServer(app))
  return bind(app, host, port)
}

async function closeServer(app: FastifyInstance): Promise<void> {
  const closed = app.close()
  await Promise.race([closed, setTimeout(ANSWERS_GRACE_MS)])
  app.server.closeAllConnections()
  await closed
}

async function bind(app: FastifyInstance, host: string, port: number): Promise<Result<string>> {
  try {
    const url = await app.listen({ host, port })
    if (host === 'localhost') await listenOnOthers(app.server)
    return ok(url)
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string }
    if (code === 'EADDRINUSE') return fail(fault('rpc/port-taken', { host, port }))
    return fail(fault('rpc/address-unusable', { host, port, reason: message }))
  }
}

/** `localhost` may have an IPv4 and an IPv6 address, and a server listens on only one of them. */
async function listenOnOthers(server: Server): Promise<void> {
  const { address: taken, port } = server.address() as AddressInfo
  const addresses = await lookup('localhost', { all: true })
  for (const { address } of addresses) if (address !== taken) await listenBeside(server, { host: address, port })
}
