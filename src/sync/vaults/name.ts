/** Declares what a vault can be called, at every door. */
import { z } from 'zod';
import { isWellFormed } from '../../fields/kinds.ts';
import { limits } from '../../limits/service.ts';
import { hasInk } from '../../text/visible.ts';
import { hasHiddenLetter } from '../log/paths.ts';

export const vaultName = z
  .string()
  .trim()
  .min(1)
  .max(limits.vaultNameCharsMax)
  .refine(
    (name) => isWellFormed(name) && !hasHiddenLetter(name),
    'must not contain control, bidi or zero-width characters',
  )
  .refine(hasInk, { error: 'must not be empty', when: ({ issues }) => issues.length === 0 });
