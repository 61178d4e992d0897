import type { LabelledMood } from './moods.ts'

const of = (sentiment: LabelledMood['sentiment'], emotions: readonly string[], texts: readonly string[]) =>
  texts.map((text): LabelledMood => ({ text, sentiment, emotions }))

/** Letters with polite phrases that say nothing, and with real thanks. The engine was tuned on these texts. */
export const TUNED_COURTESY: readonly LabelledMood[] = [
  ...of(
    'neutral',
    [],
    [
      'I would like to return the mug.',
      'I would like to cancel my order.',
      'My wife would like to change the address of her order.',
      'We would also like to order two bowls in grey.',
      'Would you like the receipt by post or by mail?',
      'Please cancel my order, thank you.',
      'Could you please kindly tell me where my parcel is?',
      'Many thanks and best wishes, Margaret',
      'Kindly confirm the date of the delivery.',
      'Could you send me the invoice again? Thank you so much!',
      'Thanks, I have sent the form to the address in the mail.',
      "I'd be grateful if you could send a copy of the receipt.",
      'Would you be so kind as to call me tomorrow?',
      'It would be great if you could deliver on Friday. Have a nice weekend!',
      'Any help would be much appreciated.',
      'Thank you for getting back to me. The order number is 4417.',
      'Dear shop, good morning, I hope you can tell me the size of the box. Cheers, Tom',
      'Thank you for your kind attention to this matter. Yours sincerely, M. Ward',
      'Please send the invoice to our office. Vielen Dank im Voraus und mit freundlichen Gr\u00fc\u00dfen, Jonas',
      "Can you tell me when the shop opens? Merci d'avance, bien cordialement, Claire",
      'I am happy to send photos of the label.',
      'I am looking forward to hearing from you.',
    ],
  ),
  ...of(
    'negative',
    [],
    [
      "I'd like my money back.",
      'I would like a full refund, please.',
      'Thank you for your kind reply. The replacement you kindly sent is also damaged.',
    ],
  ),
  ...of(
    'negative',
    ['sadness', 'anger', 'disgust'],
    [
      'Thank you for your kind reply. Unfortunately the replacement you kindly sent is also damaged, so I would be grateful if you could refund the full amount. Many thanks and best wishes, Margaret',
      'Dear Ms Falk, many thanks for your message. I am very disappointed with the vase. Kind regards, Ole',
    ],
  ),
  ...of(
    'positive',
    ['joy', 'trust'],
    [
      'Thank you so much, the mug is beautiful.',
      'Thank you so much!',
      'I just wanted to say thank you to your team.',
      'I would like to thank Petra for the wonderful advice.',
      'Many thanks for the lovely card, my mother is delighted.',
    ],
  ),
  ...of('positive', [], ['I like the mug.']),
  ...of(
    'positive',
    ['joy', 'trust', 'anticipation', 'surprise'],
    ['Thanks for the quick delivery.', 'She kindly replaced the broken plate, a great shop.'],
  ),
  ...of(
    'neutral',
    [],
    [
      'Hi guys, quick question: do you ship to Iceland? Ta very much, Siggi',
      'I was hoping you might be able to move my booking to the 9th, thank you ever so much.',
      'Would it trouble you to include a printed receipt with the parcel?',
      'With your permission I shall collect the crates on Thursday. Respectfully yours, A. Mensah',
      'Could I trouble you for the measurements of the large jug? Many thanks for your trouble.',
      'I should be obliged if you would forward the enclosed form to your accounts department.',
      'Pls cancel order 5521, thx!',
      'We kindly request that you quote the reference number in all letters.',
      'My husband and I would like two places on the course in May.',
      'Do let me know if Tuesday suits you. All best, Fenella',
      'Hello there! Hope you had a good weekend. I need to change the size to M. Thanks a million!',
      'If you wouldn\u2019t mind, please leave the parcel in the shed.',
      'Thank you for your inquiry; the lamp is delivered without a bulb.',
      'Greetings from Oslo. Which glaze did you use for the green plate? Warmest regards',
      'Your assistance in this matter is greatly appreciated.',
    ],
  ),
  ...of(
    'negative',
    [],
    [
      'Thank you for getting back to me, but this is the third broken lid and I would like my money back.',
      'I appreciate that you are busy, yet the colour is wrong and the handle is loose.',
    ],
  ),
  ...of(
    'positive',
    ['joy', 'trust', 'surprise'],
    [
      'Thank you, thank you, thank you! The bowl is stunning.',
      'I would like to say that your team was fantastic.',
      'Thanks to everyone for the warm welcome and the delicious cake.',
    ],
  ),
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_COURTESY: readonly LabelledMood[] = [
  ...of(
    'neutral',
    [],
    [
      'We should like to withdraw from the contract of 3 November.',
      'Good afternoon, I wanted to ask whether the plates may go in the oven, thanks.',
      'Please be so good as to let me know the price of shipping to Malta.',
      'My customer would like an offer for forty cups by Monday, thank you very much.',
      'I kindly ask you to change the name on the invoice.',
      'Hello, has my order left yet? Thanks in advance and have a lovely day, Nina',
      'Thanks for letting me know, I will wait for the parcel.',
      'We would appreciate it if you could pick up the crate on Tuesday. Best, Omar',
      "If it's not too much trouble, I would like the box to be left with my neighbour.",
      'Your prompt reply would be appreciated. With kind regards, Dr. Ito',
      'It would be lovely to get a photo of the blue bowl before I order.',
      'Wishing you a pleasant evening, Lars',
    ],
  ),
  ...of(
    'negative',
    [],
    [
      'Thank you for your patience so far, but I would like a refund.',
      'Thanks, but the lid is broken again. Kindly advise.',
    ],
  ),
  ...of(
    'positive',
    ['joy', 'trust'],
    [
      'Thank you for the gorgeous bowl, we use it every day!',
      'A huge thank you to everyone in the workshop.',
      'Dear Mr Grau, the set is perfect. Many thanks, Ida',
      'Thanks so much for repairing the handle so quickly.',
    ],
  ),
]

/** Praise and blame that compare: with an expectation, another seller or a wish. The engine was tuned on these texts. */
export const TUNED_COMPARISONS: readonly Omit<LabelledMood, 'emotions'>[] = [
  ...[
    'I was sceptical about buying pottery online, yet this exceeded every expectation I had.',
    'This exceeded all my expectations.',
    'The quality is beyond my expectations.',
    'It is much better than I had expected.',
    'You will not find a better mug elsewhere.',
    'The prices here are better than elsewhere.',
    'I wish I had bought it sooner.',
    'I bought one from another shop before, but yours is far better.',
  ].map((text) => ({ text, sentiment: 'positive' as const })),
  ...[
    'I bought the same thing from a different shop for half the price and it was better made.',
    'It was better made elsewhere.',
    'You can get it for half the price elsewhere.',
    'I wish I had not bought it.',
    'I wish I had never ordered from this shop.',
    'The bowl fell short of my expectations.',
    'It did not meet our expectations.',
    'I should have bought it somewhere else.',
  ].map((text) => ({ text, sentiment: 'negative' as const })),
  ...[
    'Everything I hoped for and more.',
    'I had low expectations, and they were exceeded by far.',
    'No other shop packs its parcels as carefully.',
    'I compared five shops and this one was the cheapest.',
    'My only regret is that I did not buy two.',
  ].map((text) => ({ text, sentiment: 'positive' as const })),
  ...[
    'Save your money and go elsewhere.',
    'My neighbour paid half for the same vase at the market.',
    'If only I had read the reviews first.',
    'The teapot did not live up to the description.',
    'Other potters make sturdier cups for less money.',
  ].map((text) => ({ text, sentiment: 'negative' as const })),
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_COMPARISONS: readonly Omit<LabelledMood, 'emotions'>[] = [
  ...[
    'The vase surpassed our expectations.',
    'It turned out even nicer than we had hoped.',
    'Nobody else sells teapots as good as these.',
    'It met all my expectations.',
    'I wish I had found this shop years ago.',
  ].map((text) => ({ text, sentiment: 'positive' as const })),
  ...[
    'I found a nicer one at another store.',
    'We got the same lamp cheaper from a different seller.',
    "I wish I hadn't wasted my money on this.",
    'Not what I expected from the photos.',
    'The quality is below expectations.',
    'The same bowl costs half as much in other shops.',
  ].map((text) => ({ text, sentiment: 'negative' as const })),
]

/** Texts that were written after the engine was changed, and measured once, to see how it reads new letters. */
export const LATER_COURTESY: readonly LabelledMood[] = [
  ...of(
    'neutral',
    [],
    [
      'Might I ask whether the jug also comes in white? Yours, Edith',
      'I would very much like to know when my refund will be paid out.',
      'Be a dear and send me the tracking number, would you?',
      'It would help me a lot if you could write the street on the label.',
      'We thank you for your order, which leaves our house on Monday.',
      'Should you have any questions, please feel free to write to us. Have a great rest of your week!',
      'I am sorry to trouble you again, the code does not fit the form.',
      'Thank you in advance for any information about the price.',
    ],
  ),
  ...of(
    'negative',
    [],
    ['Dear team, I kindly ask for my money back, as the plate arrived in pieces. Best wishes, Hugo'],
  ),
  ...of(
    'positive',
    ['joy', 'trust'],
    ['Dear Mrs Abel, you have made my daughter very happy. With kind regards, Jon', 'Cheers for the lovely parcel!'],
  ),
]

/** Texts that were written after the engine was changed, and measured once. */
export const LATER_COMPARISONS: readonly Omit<LabelledMood, 'emotions'>[] = [
  ...[
    'I expected little and got a lot.',
    'Better value than anything on the high street.',
    'I only wish I had ordered two of them.',
    'It looks even prettier than in the photos.',
    'None of the other sellers answered as quickly.',
  ].map((text) => ({ text, sentiment: 'positive' as const })),
  ...[
    'Next time I will buy from someone else.',
    'I could have had the same bowl for 10 euros less.',
    'I regret that I did not listen to the reviews.',
    'The photos promised more than the bowl keeps.',
    'For that price I would have expected real silver.',
  ].map((text) => ({ text, sentiment: 'negative' as const })),
]
