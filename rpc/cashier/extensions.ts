import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import type { OwnOffer } from '../../marketplace/till/rails/dollar/requirements.ts'

/**
 * Longest sample request in an offer. Clients repeat it in the header of their payment, and some facilitators refuse a
 * header above 3,000 bytes.
 */
const SAMPLE_CHARS_MAX = 80

/** The resource of an offer in x402 version 2, short enough for its header. Shape: x402 specification, `ResourceInfo`. */
export function offerResource({ name, brief, capability }: ServiceDefinition, url: string): OwnOffer['resource'] {
  return {
    url,
    description: brief,
    mimeType: 'application/json',
    serviceName: name,
    tags: [capability],
  }
}

/**
 * Extensions of an offer in x402 version 2. `bazaar` tells catalogues how to call the service. `payment-identifier` lets a
 * client name its payment, to get the answer again. Shapes: x402 specification, `specs/extensions`.
 */
export function offerExtensions({ example }: ServiceDefinition): OwnOffer['extensions'] {
  const body = { request: example.length > SAMPLE_CHARS_MAX ? '' : example }
  return {
    bazaar: {
      info: {
        input: { type: 'http', method: 'POST', bodyType: 'json', body },
        output: { type: 'json', example: { paid: true } },
      },
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        required: ['input'],
        properties: {
          input: {
            type: 'object',
            required: ['type', 'method', 'bodyType', 'body'],
            properties: {
              type: { const: 'http' },
              method: { enum: ['POST'] },
              bodyType: { enum: ['json'] },
              body: { type: 'object', properties: { request: { type: 'string' } } },
            },
          },
          output: { type: 'object', required: ['type'], properties: { type: { type: 'string' } } },
        },
      },
    },
    'payment-identifier': {
      info: { required: false },
      schema: {
        type: 'object',
        properties: {
          required: { type: 'boolean' },
          id: { type: 'string', pattern: '^[a-zA-Z0-9_-]{16,128}$' },
        },
      },
    },
  }
}
