import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

/** Most characters of a prompt's argument. */
export const WORD_CHARS_MAX = 4_000

interface Prompt {
  readonly title: string
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[]
  readonly text: (args: Readonly<Record<string, string>>) => string
}

const PROMPTS: Readonly<Record<string, Prompt>> = {
  pay_and_call: {
    title: 'Pay for a service and call it',
    description: 'The steps from a request to its result and receipt',
    arguments: [
      { name: 'serviceId', description: 'Id of the service, like node-network-stats', required: true },
      { name: 'request', description: 'Input of the service', required: false },
    ],
    text: ({ serviceId, request = '' }) =>
      [
        `Call the paid tool ${serviceId} of this node with the request: ${JSON.stringify(request)}`,
        '1. Call the tool without payment. The answer is its terms: exact amount, payTo and network of each way to pay, and requestValid. If requestValid is false, correct the request first.',
        '2. Compare the price with the budget you were given. Ask before you spend more than that.',
        '3. Pay one of the accepts. native-x402: sign an agent_invoke transaction for exactly the amount, locked to a secret, and send it with submit_transaction. exact: sign the EIP-3009 authorization. batch-settlement: sign a voucher of an open tab, if there is one.',
        '4. Call the tool again with the very same request and the payment in _meta["x402/payment"], or on the native rail as the argument payment {txId, secret}.',
        '5. If the answer says that the payment is not confirmed yet or the call is under way, repeat step 4 with the same payment. Never pay twice for one call.',
        '6. Report the result, and the amount and txId of its receipt.',
      ].join('\n'),
  },
  find_service: {
    title: 'Find a service',
    description: 'Finds the service that fits a task, by price and record',
    arguments: [
      { name: 'task', description: 'What is to be done', required: true },
      { name: 'maxPriceUsd', description: 'Most dollars for one call', required: false },
    ],
    text: ({ task, maxPriceUsd }) =>
      [
        `Find the service of this node that is best for this task: ${JSON.stringify(task)}`,
        `1. Call search_services with a few words of the task${maxPriceUsd === undefined ? '' : ` and maxPriceUsd ${maxPriceUsd}`}. If nothing fits, try other words, or none.`,
        '2. Look at the best candidates with get_service: price, success rate, refunds, a sample of the result.',
        '3. Check the request with get_quote, which is free and says whether it would do.',
        '4. Name the service, the exact request and the price. Do not pay before you are told to.',
      ].join('\n'),
  },
}

/** Prompts as `prompts/list` shows them. */
export function listPrompts() {
  return Object.entries(PROMPTS).map(([name, { title, description, arguments: args }]) => ({
    name,
    title,
    description,
    arguments: [...args],
  }))
}

/** Throws the protocol's error for an unknown prompt, or an argument that is missing or too long. */
export function getPrompt(name: string, args: Readonly<Record<string, string>>) {
  const prompt = Object.hasOwn(PROMPTS, name) ? PROMPTS[name] : undefined
  if (prompt === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such prompt')
  for (const { name: argument, required } of prompt.arguments) {
    const { length = 0 } = args[argument] ?? ''
    if ((required && length === 0) || length > WORD_CHARS_MAX)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `${argument} must have ${required ? 1 : 0} to ${WORD_CHARS_MAX} characters`,
      )
  }
  const message = { role: 'user' as const, content: { type: 'text' as const, text: prompt.text(args) } }
  return { description: prompt.description, messages: [message] }
}
