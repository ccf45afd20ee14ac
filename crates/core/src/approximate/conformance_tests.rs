//! Every method keeps every promise, in each of its variants.

use super::*;
use crate::conformance;

fn sms(change: impl Fn(&mut SmsNystromParams)) -> SmsNystrom {
    let mut params = SmsNystromParams::default();
    change(&mut params);
    params.check().unwrap()
}

fn shift_ridge(change: impl Fn(&mut ShiftRidgeParams)) -> ShiftRidge {
    let mut params = ShiftRidgeParams::default();
    change(&mut params);
    params.check().unwrap()
}

conformance!(nystrom, NystromParams::default().check().unwrap());
conformance!(sms_nystrom, sms(|_| ()));
conformance!(sms_nystrom_corrected, sms(|params| params.correct_diagonal = true));
conformance!(sms_nystrom_inner_shift_only, sms(|params| params.outer_shift = false));
conformance!(sms_nystrom_wide, sms(|params| params.z = 3.0));
conformance!(skeleton, SkeletonParams::default().check().unwrap());
conformance!(sicur, SiCurParams::default().check().unwrap());
conformance!(stacur_same, StaCurParams { same: true }.check().unwrap());
conformance!(stacur_different, StaCurParams { same: false }.check().unwrap());
conformance!(shift_ridge_chosen, shift_ridge(|_| ()));
conformance!(shift_ridge_clipped, shift_ridge(|params| params.clip = true));
conformance!(optimal, OptimalParams::default().check().unwrap());
conformance!(exact, ExactParams::default().check().unwrap());
