import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { Probe } from '../../ports/probes.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import { ENGINE_ENVELOPE, engineEnvelope } from '../envelope.ts'
import { isBlank, unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-x402-validation' as ServiceId
const FORMAT = { requestFormat: '', example: '' }
const PATHS = ['/', '/health', '/ready', '/.well-known/x402.json']
const PROBE_MS = 6_000

const TEXT = Type.String({ maxLength: 200 })
const PROBE = Type.Object({
  path: Type.String(),
  status: orNull(Type.Integer({ minimum: 100, maximum: 599 })),
  latencyMs: Type.Integer({ minimum: 0 }),
  requestId: orNull(TEXT),
  contentType: orNull(TEXT),
  error: Type.Optional(TEXT),
})

const RESULT = Type.Object({
  ...ENGINE_ENVELOPE,
  target: Type.String(),
  probes: Type.Array(PROBE, { minItems: PATHS.length, maxItems: PATHS.length }),
  passed: Type.Integer({ minimum: 0, maximum: PATHS.length }),
  startedAt: Type.String({ format: 'date-time' }),
  totalMs: Type.Integer({ minimum: 0 }),
  spend: Type.Literal(0),
  unknown: UNKNOWN,
})

function parse(request: string): Result<null> {
  return isBlank(request)
    ? ok(null)
    : unusable('the endpoint is chosen by the operator: the request stays empty', FORMAT)
}

function told({ error, ...probe }: Probe) {
  return error === null ? probe : { ...probe, error: error.slice(0, 200) }
}

function unknownOf(probes: readonly Probe[]): string[] {
  const fields = ['status', 'requestId', 'contentType'] as const
  return probes.flatMap((probe, index) =>
    fields.filter((field) => probe[field] === null).map((field) => `probes.${index}.${field}`),
  )
}

/** How the operator's public endpoint answers now. */
export const x402Validation = defineService<null, typeof RESULT>({
  serviceId: ID,
  name: 'x402 endpoint check',
  description:
    "Four GET probes of the operator's public x402 endpoint at once: /, /health, /ready and /.well-known/x402.json, 6 s each, no retries, no redirects, nothing spent. Status, latency, request id and content type of each. The request stays empty.",
  brief: "Probes the x402 endpoint of this node's operator and tells how it answers.",
  words: 'health ready uptime latency monitor',
  capability: 'utility',
  priceUsdMicros: 1_000_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.431Z',
    engine: 'http',
    target: 'https://node.example',
    probes: [
      { path: '/', status: 200, latencyMs: 41, requestId: '5f0c9a52', contentType: 'text/html; charset=utf-8' },
      { path: '/health', status: 200, latencyMs: 38, requestId: '5f0c9a53', contentType: 'application/json' },
      { path: '/ready', status: 503, latencyMs: 39, requestId: null, contentType: 'application/json' },
      {
        path: PATHS[3] as string,
        status: null,
        latencyMs: 6_000,
        requestId: null,
        contentType: null,
        error: 'no answer within 6000 ms',
      },
    ],
    passed: 2,
    startedAt: '2026-11-20T12:00:00.000Z',
    totalMs: 6_001,
    spend: 0,
    unknown: ['probes.2.requestId', 'probes.3.status', 'probes.3.requestId', 'probes.3.contentType'],
  },
  timeoutMs: 10_000,
  resultBytesMax: 8_192,
  repeatable: true,
  requestCharsMax: 100,
  parse,
  ready: ({ outside }) => outside.endpoint.readiness(),
  resultSchema: RESULT,
  execute: async (_input, context, signal) => {
    const { endpoint } = context.outside
    const startedMs = context.clock.now()
    const probes = await Promise.all(PATHS.map((path) => endpoint.probe(path, PROBE_MS, signal)))
    // If this node aborted the probes, they say nothing about the endpoint.
    signal.throwIfAborted()
    return {
      ...engineEnvelope(ID, 'http', context),
      target: endpoint.target,
      probes: probes.map(told),
      passed: probes.filter(({ status }) => status !== null && status >= 200 && status < 300).length,
      startedAt: new Date(startedMs).toISOString(),
      totalMs: Math.max(0, context.clock.now() - startedMs),
      spend: 0 as const,
      unknown: unknownOf(probes),
    }
  },
})
