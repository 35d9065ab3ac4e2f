/** Declares what a vault can be called, at every door. */
import { z } from 'zod';
import { isWellFormed, visible } from '../../fields/kinds.ts';
import { limits } from '../../limits/service.ts';
import { hasHiddenLetter } from '../log/paths.ts';

export const vaultName = visible(
  z
    .string()
    .trim()
    .min(1)
    .max(limits.vaultNameCharsMax)
    .refine(
      (name) => isWellFormed(name) && !hasHiddenLetter(name),
      'must not contain control, bidi or zero-width characters',
    ),
);
