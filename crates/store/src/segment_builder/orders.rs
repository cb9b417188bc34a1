//! Writes the seven orders of a new segment from its quads sorted by S, P, O, G.
//!
//! Two real sorts are enough: the quads come sorted by SPO; sorting by OSP is the other. SOP and OPS follow by sorting
//! inside the groups of equal first column, PSO and POS by a stable partition on P of SPO and OSP. The jobs run on as
//! many threads as the load has; those that need room for all quads reserve it, and use files where there is none.

use super::build_error::BuildError;
use super::groups::GroupSorter;
use super::layout::{PackedRow, RowShape};
use super::order_writer::OrderWriter;
use super::orders_context::OrdersContext;
use super::row_set::RowSet;
use lode_base::external_sort::{ExternalSorter, SortedRows};
use lode_base::huge;
use lode_base::memory_budget::Reservation;
use lode_base::radix_sort::{MAPPED_SCRATCH_PART, radix_sort_mapped};
use lode_base::row_file::BLOCK_ROWS;
use lode_packed::rows::RowSums;
use lode_packed::{Order, PermutationInfo, Position};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Room that a sort gets even where the budget is used up.
const SORT_BYTES_MIN: usize = 4 << 20;
/// Rows that a thread sums up, at least.
const SUM_ROWS_MIN: usize = if cfg!(test) { 8 } else { 1 << 16 };
/// Most bits of a predicate's place for the one-pass partition.
const PARTITION_BITS_MAX: u32 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    SortByObject,
    SubjectOrders,
    Psog,
    ObjectOrders,
    Posg,
    Gspo,
}

impl Job {
    const ALL: [Self; 6] =
        [Self::SortByObject, Self::SubjectOrders, Self::Psog, Self::ObjectOrders, Self::Posg, Self::Gspo];

    fn reads_object_rows(self) -> bool {
        matches!(self, Self::ObjectOrders | Self::Posg)
    }
}

struct Board<'a, R> {
    jobs: Vec<Job>,
    by_subject: Option<Arc<RowSet<R>>>,
    by_object: Option<Arc<RowSet<R>>>,
    /// Files that have all their rows, and what these sum up to.
    written: Vec<(OrderWriter<'a, R>, RowSums)>,
    /// Threads that may add to those.
    workers: usize,
    infos: [Option<PermutationInfo>; Order::COUNT],
    error: Option<BuildError>,
}

impl<R> Board<'_, R> {
    fn fail(&mut self, error: BuildError) {
        self.error.get_or_insert(error);
        self.jobs.clear();
    }
}

struct Writer<'a, R> {
    context: &'a OrdersContext<'a>,
    /// What the rows of all full orders sum up to.
    sums: RowSums,
    /// Buffers that are free again, with the room that is held for them.
    spare: Mutex<Vec<(Vec<R>, Reservation)>>,
    board: Mutex<Board<'a, R>>,
    changed: Condvar,
}

/// Says that a thread is at its end, however it came there.
struct AtWork<'a, 'b, R>(&'a Writer<'b, R>);

impl<R> Drop for AtWork<'_, '_, R> {
    fn drop(&mut self) {
        let mut board = self.0.board.lock().unwrap_or_else(PoisonError::into_inner);
        board.workers -= 1;
        drop(board);
        self.0.changed.notify_all();
    }
}

/// Writes all orders, makes their files durable, and returns what they hold. `buffer` is any that is not needed any more.
pub fn write_orders<R: PackedRow>(
    rows: RowSet<R>,
    buffer: Vec<R>,
    context: &OrdersContext<'_>,
) -> Result<[PermutationInfo; Order::COUNT], BuildError> {
    let sums = sum_up(&rows, context)?;
    let board = Board {
        jobs: Job::ALL.to_vec(),
        by_subject: Some(Arc::new(rows)),
        by_object: None,
        written: Vec::new(),
        workers: context.threads.clamp(1, Job::ALL.len()),
        infos: [None; Order::COUNT],
        error: None,
    };
    let spare = Mutex::default();
    let writer = Writer { context, sums, spare, board: Mutex::new(board), changed: Condvar::new() };
    writer.give_back(buffer);
    if context.threads <= 1 {
        writer.work();
    } else {
        std::thread::scope(|scope| {
            for _ in 1..context.threads.min(Job::ALL.len()) {
                scope.spawn(|| writer.work());
            }
            // To make files durable is to wait for disks, and others have rows for these meanwhile.
            scope.spawn(|| writer.finish_written());
            writer.work();
        });
    }
    let board = writer.board.into_inner().unwrap_or_else(PoisonError::into_inner);
    match board.error {
        Some(error) => Err(error),
        None => agree(board.infos),
    }
}

/// The orders that were written; each was compared with the sums of the quads as it was finished.
fn agree(
    infos: [Option<PermutationInfo>; Order::COUNT],
) -> Result<[PermutationInfo; Order::COUNT], BuildError> {
    let missing = || BuildError::Inconsistent("an order was not written".into());
    let first = infos[Order::Spog as usize].ok_or_else(missing)?;
    let mut out = [first; Order::COUNT];
    for (out, info) in out.iter_mut().zip(infos) {
        *out = info.ok_or_else(missing)?;
    }
    Ok(out)
}

fn sum_up<R: PackedRow>(rows: &RowSet<R>, context: &OrdersContext<'_>) -> Result<RowSums, BuildError> {
    let (mut sums, codes) = (RowSums::default(), context.layout.row_codes());
    if let Some(rows) = rows.in_one_slice() {
        return sum_up_slice(rows, context);
    }
    for_each_block(rows, context, &mut |block| {
        sums.add(block, &codes);
        Ok(())
    })?;
    Ok(sums)
}

/// Sums up rows in memory, a part of them with each thread.
fn sum_up_slice<R: PackedRow>(rows: &[R], context: &OrdersContext<'_>) -> Result<RowSums, BuildError> {
    let codes = context.layout.row_codes();
    let sum = |rows: &[R]| -> Result<RowSums, BuildError> {
        let mut sums = RowSums::default();
        for block in rows.chunks(BLOCK_ROWS) {
            context.throttle.check()?;
            sums.add(block, &codes);
        }
        Ok(sums)
    };
    let mut parts = rows.chunks(rows.len().div_ceil(context.threads.max(1)).max(SUM_ROWS_MIN));
    let first = parts.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let others: Vec<_> = parts.map(|rows| scope.spawn(|| sum(rows))).collect();
        let mut sums = sum(first)?;
        for other in others {
            sums += other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(sums)
    })
}

/// Calls `visit` for every block of rows.
fn for_each_block<R: PackedRow>(
    rows: &RowSet<R>,
    context: &OrdersContext<'_>,
    visit: &mut dyn FnMut(&[R]) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let io = context.io();
    let mut reader = rows.reader().map_err(&io)?;
    loop {
        context.throttle.check()?;
        let block = reader.next().map_err(&io)?;
        if block.is_empty() {
            return Ok(());
        }
        visit(block)?;
    }
}

impl<'a, R: PackedRow> Writer<'a, R> {
    fn lock(&self) -> MutexGuard<'_, Board<'a, R>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let _at_work = AtWork(self);
        while let Some((job, rows)) = self.take() {
            let result = self.run(job, &rows);
            drop(rows);
            if let Err(error) = result {
                self.lock().fail(error);
            }
            self.changed.notify_all();
        }
    }

    /// Ends files as they come, until no thread is left that could write another.
    fn finish_written(&self) {
        loop {
            let mut board = self.lock();
            let (output, sums) = loop {
                if let Some(next) = board.written.pop() {
                    break next;
                }
                if board.workers == 0 {
                    return;
                }
                board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
            };
            let is_useless = board.error.is_some();
            drop(board);
            if !is_useless && let Err(error) = self.finish_now(output, &sums) {
                self.lock().fail(error);
                self.changed.notify_all();
            }
        }
    }

    /// The next job whose input is there, and its input.
    fn take(&self) -> Option<(Job, Arc<RowSet<R>>)> {
        let mut board = self.lock();
        loop {
            if board.jobs.is_empty() {
                return None;
            }
            let ready =
                board.jobs.iter().position(|job| !job.reads_object_rows() || board.by_object.is_some());
            let Some(at) = ready else {
                board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let job = board.jobs.remove(at);
            let by_object = job.reads_object_rows();
            let rows = if by_object { board.by_object.clone() } else { board.by_subject.clone() };
            // The last job that reads rows is the last to hold them.
            if !board.jobs.iter().any(|other| other.reads_object_rows() == by_object) {
                if by_object {
                    board.by_object = None;
                } else {
                    board.by_subject = None;
                }
            }
            return Some((job, rows?));
        }
    }

    fn run(&self, job: Job, rows: &RowSet<R>) -> Result<(), BuildError> {
        match job {
            Job::SortByObject => {
                let sorted = match self.sort_in_memory(rows, Order::Spog, Order::Ospg)? {
                    Some(sorted) => sorted,
                    None => self.sort(rows, Order::Spog, Order::Ospg, &|_| true)?,
                };
                self.lock().by_object = Some(Arc::new(sorted));
                Ok(())
            }
            Job::SubjectOrders => self.write_pair(rows, Order::Spog, Order::Sopg),
            Job::ObjectOrders => self.write_pair(rows, Order::Ospg, Order::Opsg),
            Job::Psog => self.partition(rows, Order::Spog, Order::Psog),
            Job::Posg => self.partition(rows, Order::Ospg, Order::Posg),
            Job::Gspo => self.graph_order(rows),
        }
    }

    /// Keeps a buffer for later, if there is room.
    fn give_back(&self, buffer: Vec<R>) {
        let bytes = buffer.capacity() * R::BYTES;
        if bytes > 0
            && let Ok(reservation) = self.context.memory.reserve(bytes)
        {
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push((buffer, reservation));
        }
    }

    /// A buffer that is free, whatever its size. The room held for it is free again, so that whoever takes it reserves what it needs.
    fn spare(&self) -> Vec<R> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.map(|(buffer, _)| buffer).unwrap_or_default()
    }

    /// Reserves `wanted` bytes, or what there is.
    fn reserve(&self, wanted: usize) -> (usize, Option<Reservation>) {
        let memory = self.context.memory;
        if let Ok(reservation) = memory.reserve(wanted) {
            return (wanted, Some(reservation));
        }
        // Half of what is free: other jobs need some too.
        match memory.reserve(memory.free() / 2) {
            Ok(reservation) if reservation.bytes() > SORT_BYTES_MIN => {
                (reservation.bytes(), Some(reservation))
            }
            _ => (SORT_BYTES_MIN, None),
        }
    }

    /// Rows in memory, with the first column of another order moved to the front; none where there is not enough room.
    fn sort_in_memory(
        &self,
        rows: &RowSet<R>,
        from: Order,
        order: Order,
    ) -> Result<Option<RowSet<R>>, BuildError> {
        let Some(rows) = rows.in_one_slice() else { return Ok(None) };
        let mut sorted = self.spare();
        let count = sorted.capacity().max(rows.len());
        let Ok(mut room) = self.context.memory.reserve((count + count / MAPPED_SCRATCH_PART) * R::BYTES)
        else {
            return Ok(None);
        };
        if sorted.capacity() < rows.len() {
            sorted = huge::zeros(rows.len());
        }
        self.context.throttle.check()?;
        let layout = self.context.layout;
        let (from, shape) = (layout.shape(from), layout.shape(order));
        // Only a column was moved to the front: the others are sorted.
        let sorted_bits = shape.shifts[order.positions()[0] as usize];
        let map = |row: R| from.reshape(row, &shape);
        radix_sort_mapped(rows, map, &mut sorted, sorted_bits..layout.key_bits());
        // Shrinking never fails.
        let _ = room.resize(sorted.capacity() * R::BYTES);
        Ok(Some(RowSet::in_memory(sorted, Some(room))))
    }

    /// The rows that `keep` wants, with the first column of another order moved to the front.
    fn sort(
        &self,
        rows: &RowSet<R>,
        from: Order,
        order: Order,
        keep: &dyn Fn(R) -> bool,
    ) -> Result<RowSet<R>, BuildError> {
        let io = self.context.io();
        let (from, shape) = (self.context.layout.shape(from), self.context.layout.shape(order));
        let expected = usize::try_from(rows.rows).unwrap_or(usize::MAX);
        let buffer = self.spare();
        let (memory_bytes, mut reservation) = self.reserve(expected.saturating_mul(2 * R::BYTES));
        // Only a column was moved to the front: the others are sorted.
        let sorted_bits = shape.shifts[order.positions()[0] as usize];
        let options = self.context.sort_options(order.name().to_owned(), memory_bytes, sorted_bits);
        let mut sorter = ExternalSorter::with_buffer(options, expected, buffer);
        let mut reshaped: Vec<R> = Vec::with_capacity(BLOCK_ROWS);
        for_each_block(rows, self.context, &mut |block| {
            reshaped.clear();
            reshaped.extend(block.iter().filter(|row| keep(**row)).map(|row| from.reshape(*row, &shape)));
            sorter.push(&reshaped).map_err(&io)
        })?;
        let (sorted, buffer) = sorter.finish_with_buffer().map_err(&io)?;
        if let (SortedRows::Memory(rows), Some(held)) = (&sorted, &mut reservation) {
            // The scratch room is free again; shrinking never fails.
            let _ = held.resize((rows.capacity() * R::BYTES).min(held.bytes()));
        }
        self.give_back(buffer);
        let path = self.context.spill.join(format!("{}.sorted", order.name()));
        RowSet::collect(sorted, reservation, self.context.vfs, &path, &mut |_| Ok(())).map_err(io)
    }

    fn finish_now(&self, output: OrderWriter<'a, R>, sums: &RowSums) -> Result<(), BuildError> {
        let info = output.finish(sums)?;
        self.lock().infos[info.order as usize] = Some(info);
        Ok(())
    }

    /// Has a file ended that has all its rows.
    fn finish(&self, output: OrderWriter<'a, R>, sums: RowSums) -> Result<(), BuildError> {
        if self.context.threads <= 1 {
            return self.finish_now(output, &sums);
        }
        self.lock().written.push((output, sums));
        self.changed.notify_all();
        Ok(())
    }

    /// Writes all rows as they are.
    fn write(&self, rows: &RowSet<R>, order: Order, sums: RowSums) -> Result<(), BuildError> {
        let mut output = OrderWriter::create(self.context, order)?;
        for_each_block(rows, self.context, &mut |block| output.push(block))?;
        self.finish(output, sums)
    }

    /// Writes rows in their order, and in the order that has the second and third column swapped.
    fn write_pair(&self, rows: &RowSet<R>, order: Order, swapped: Order) -> Result<(), BuildError> {
        let io = self.context.io();
        let (shape, to) = (self.context.layout.shape(order), self.context.layout.shape(swapped));
        let mut output = OrderWriter::create(self.context, order)?;
        let mut swapped_output = OrderWriter::create(self.context, swapped)?;
        let first_shift = to.shifts[swapped.positions()[0] as usize];
        let second_shift = to.shifts[swapped.positions()[1] as usize];
        let name = format!("{}-group", swapped.name());
        let memory_bytes = (self.context.memory.limit() / 16).clamp(SORT_BYTES_MIN, 4 * SORT_BYTES_MIN);
        let options = self.context.sort_options(name, memory_bytes, second_shift);
        let mut groups = GroupSorter::new(first_shift, options);
        for_each_block(rows, self.context, &mut |block| {
            output.push(block)?;
            let reshaped = block.iter().map(|row| shape.reshape(*row, &to));
            groups.push(reshaped, &mut |done| swapped_output.push(done), &io)
        })?;
        self.finish(output, self.sums)?;
        groups.finish(&mut |done| swapped_output.push(done), &io)?;
        self.finish(swapped_output, self.sums)
    }

    /// Moves P to the front of rows that are sorted by the other columns already.
    fn partition(&self, rows: &RowSet<R>, from: Order, to: Order) -> Result<(), BuildError> {
        let layout = self.context.layout;
        let (source, shape) = (layout.shape(from), layout.shape(to));
        let bits = shape.masks[Position::P as usize].count_ones();
        let count = usize::try_from(rows.rows).unwrap_or(usize::MAX);
        let buffer = self.spare();
        let room =
            self.context.memory.reserve(count.saturating_mul(R::BYTES).max(buffer.capacity() * R::BYTES));
        if bits <= PARTITION_BITS_MAX && room.is_ok() {
            let partitioned = self.scatter(rows, source, shape, bits, buffer)?;
            let mut partitioned = RowSet::in_memory(partitioned, room.ok());
            self.write(&partitioned, to, self.sums)?;
            self.give_back(partitioned.take_buffer());
            return Ok(());
        }
        drop((room, buffer));
        let sorted = self.sort(rows, from, to, &|_| true)?;
        self.write(&sorted, to, self.sums)
    }

    /// Rows grouped by P, inside a group in the order they came.
    fn scatter(
        &self,
        rows: &RowSet<R>,
        source: RowShape,
        shape: RowShape,
        bits: u32,
        buffer: Vec<R>,
    ) -> Result<Vec<R>, BuildError> {
        let (shift, mask) = (source.shifts[Position::P as usize], source.masks[Position::P as usize]);
        let mut places = vec![0_usize; 1 << bits];
        for_each_block(rows, self.context, &mut |block| {
            block.iter().for_each(|row| places[row.field(shift, mask) as usize] += 1);
            Ok(())
        })?;
        let mut sum = 0;
        for place in &mut places {
            let count = *place;
            *place = sum;
            sum += count;
        }
        let mut partitioned = if buffer.capacity() < sum { huge::with_capacity(sum) } else { buffer };
        partitioned.resize(sum, R::default());
        for_each_block(rows, self.context, &mut |block| {
            for row in block {
                let place = &mut places[row.field(shift, mask) as usize];
                partitioned[*place] = source.reshape(*row, &shape);
                *place += 1;
            }
            Ok(())
        })?;
        Ok(partitioned)
    }

    fn graph_order(&self, rows: &RowSet<R>) -> Result<(), BuildError> {
        let layout = self.context.layout;
        if !layout.has_named_graphs() {
            let output = OrderWriter::create(self.context, Order::Gspo)?;
            return self.finish(output, RowSums::default());
        }
        let (shape, codes) = (layout.shape(Order::Spog), layout.row_codes());
        let (shift, mask) = (shape.shifts[Position::G as usize], shape.masks[Position::G as usize]);
        let named = |row: R| row.field(shift, mask) != 0;
        let (mut sums, mut of_block) = (RowSums::default(), Vec::new());
        for_each_block(rows, self.context, &mut |block| {
            of_block.clear();
            of_block.extend(block.iter().copied().filter(|row| named(*row)));
            sums.add(&of_block, &codes);
            Ok(())
        })?;
        let sorted = self.sort(rows, Order::Spog, Order::Gspo, &named)?;
        self.write(&sorted, Order::Gspo, sums)
    }
}
