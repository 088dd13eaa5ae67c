//! The same work on many items, on several threads if there is enough of it.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Bytes that are worth another thread.
const SHARE: usize = 96 << 10;

/// What `work` gives for each of `items`, in their order, on at most `threads` threads.
pub(super) fn each<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let all: usize = items.iter().map(bytes).sum();
    let threads = threads.min(all / SHARE).min(items.len());
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    // Whoever is done takes the next one: items differ in size.
    let next = AtomicUsize::new(0);
    let some = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else {
                return done;
            };
            done.push((at, work(item)));
        }
    };
    let mut done = thread::scope(|scope| {
        // Without another thread, this one does it all.
        let others =
            (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, some).ok());
        let others: Vec<_> = others.collect();
        let mut done = some();
        for other in others {
            done.append(&mut other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn results_come_in_the_order_of_their_items() {
        let items: Vec<usize> = (0..1000).collect();
        for threads in [0, 1, 2, 3, 8] {
            let done = each(&items, threads, |_| 4096, |item| item * 2);
            let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(done, expected);
        }
        assert!(each(&[], 4, |_: &usize| 0, |item| *item).is_empty());
    }

    #[test]
    fn a_panic_is_passed_on() {
        let items = [0, 1, 2, 3];
        let failing = std::panic::catch_unwind(|| {
            each(&items, 2, |_| 1 << 20, |item| assert!(*item < 3));
        });
        assert!(failing.is_err());
    }
}
