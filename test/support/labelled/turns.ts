import type { LabelledMood } from './moods.ts'

const of = (sentiment: LabelledMood['sentiment'], texts: readonly string[]) =>
  texts.map((text) => ({ text, sentiment }))

/** Texts whose sentiment turns on a negation, a contrast or a noun with two meanings. The engine was tuned on these texts. */
export const TUNED_TURNS: readonly Omit<LabelledMood, 'emotions'>[] = [
  ...of('negative', [
    "I don't think this is a good phone.",
    'Nobody would call it great.',
    'The camera is great, but the battery ruins it.',
    "I wouldn't say that the staff were helpful.",
    'There is no way I can recommend this hotel.',
    "I can't say I enjoyed a single minute of it.",
    'Although the screen is beautiful, the phone crashes every day.',
    'The rooms are lovely. However, the noise at night makes it impossible to sleep, and the manager was rude.',
    'It used to be excellent; now it is a mess.',
    'Hardly anyone was happy with the result.',
    'I expected a great book and got a boring one.',
    'This is far from perfect and anything but fun.',
    'It would have been nice if the driver had been polite.',
    'The soup failed to impress, and so did the fish.',
  ]),
  ...of('positive', [
    'It is not only cheap but also beautiful.',
    'The delivery was late, but the shop made up for it and I love the chair.',
    "I don't think you can find a better dentist in this town.",
    'Despite a slow start, it turned out to be a wonderful evening.',
    'There is nothing bad to say about this place.',
    "I can't recommend her enough.",
    'Never had a problem with it in six years.',
    'Even though the box was damaged, the lamp itself is perfect.',
    'No complaints at all: the room was clean and the bed was comfortable.',
    "You won't regret buying it.",
    "I couldn't be happier with the new kitchen.",
    'Not the cheapest, but worth every cent.',
  ]),
  ...of('neutral', [
    'Shares of the company closed at 41 euros on Friday.',
    'The holder shares the link with three other accounts.',
    'He owns 200 shares in a bank.',
    'The report shares figures on rainfall with the districts.',
    'Interest is paid on the last day of the month.',
  ]),
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_TURNS: readonly Omit<LabelledMood, 'emotions'>[] = [
  ...of('negative', [
    "I don't believe that anyone would find this app useful.",
    'Nobody in our office likes the new chairs.',
    'The food is delicious, but the service kills any pleasure.',
    "We wouldn't call the apartment clean.",
    'There is no reason to be pleased with this update.',
    "I can't imagine that this was ever a good idea.",
    'While the design is gorgeous, the software is buggy and slow.',
    'The seats are comfortable. But the flight was delayed five hours and the crew ignored us.',
    'It was fun once; today it is a boring grind.',
    'Few of the guests were satisfied.',
    'I hoped for a relaxing weekend and came home exhausted.',
    'The museum is far from interesting.',
    'The medicine did not help me at all.',
    "It isn't that I hate it, it is just useless to me.",
  ]),
  ...of('positive', [
    'Not only is the staff friendly, the food is also superb.',
    'The manual is confusing, but the machine itself works wonderfully.',
    "I don't think I have ever slept better.",
    'Despite the rain we had a fantastic day.',
    'I have nothing to complain about.',
    "We can't praise the nurses highly enough.",
    'It has never failed me.',
    'Although the queue was long, it was absolutely worth it.',
    'There were no problems with the payment and the parcel came early.',
    "You can't go wrong with this tent.",
    "I couldn't be more pleased with how it turned out.",
    'It is not pretty, but it does the job brilliantly.',
  ]),
  ...of('neutral', [
    'The fund sold its shares on Monday and bought bonds.',
    'She shares a flat with two students.',
    'The pool shares are counted once an hour.',
    'Interest rates stayed at two percent.',
    'Each member holds one share of the cooperative.',
  ]),
]
