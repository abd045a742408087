;; A guest that does as its configuration says: {"do":"WORD"}, of which the first
;; letter counts, or {"do":"WORD","answer":JSON} with a word of six letters, to
;; answer with that JSON.
(module
  (memory (export "memory") 1)
  (global $top (mut i32) (i32.const 4096))
  (data (i32.const 16) "{\"name\":\"puppet\",\"version\":\"1.0.0\",\"critic\":\"puppet\",\"formats\":[\"application/json\"],\"detect\":[\"/puppet\"],\"items\":[\"/findings/*\"]}")
  (func (export "switchyard_abi_v1"))

  (func (export "sy_alloc") (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $top))
    (global.set $top (i32.add (local.get $at) (local.get $size)))
    (if (i32.gt_u (global.get $top) (i32.mul (memory.size) (i32.const 65536)))
      (then (if (i32.eq (memory.grow (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1))) (i32.const -1))
        (then (return (i32.const 0))))))
    (local.get $at))

  (func (export "sy_describe") (result i64)
    (i64.const 0x1000000081)) ;; 129 bytes at 16

  (func $spin (loop $again (br $again)))
  (func $nothing)
  (func $call_forever (loop $again (call $nothing) (br $again)))
  (func $recurse (result i32) (i32.add (call $recurse) (i32.const 1)))
  (func $grow_forever (loop $again (drop (memory.grow (i32.const 1))) (br $again)))
  (func $grow_until_denied
    (loop $again
      (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
    (unreachable))
  ;; Two calls at each of 64 levels: more steps than there is time, and no loop.
  (func $tree (param $depth i32)
    (if (local.get $depth) (then
      (call $tree (i32.sub (local.get $depth) (i32.const 1)))
      (call $tree (i32.sub (local.get $depth) (i32.const 1))))))

  ;; The same through a table, and through two functions that call each other.
  (type $step (func (param i32)))
  (table funcref (elem $table_tree $left_tree $right_tree))
  (func $table_tree (param $depth i32)
    (if (local.get $depth) (then
      (call_indirect (type $step) (i32.sub (local.get $depth) (i32.const 1)) (i32.const 0))
      (call_indirect (type $step) (i32.sub (local.get $depth) (i32.const 1)) (i32.const 0)))))
  (func $left_tree (param $depth i32)
    (if (local.get $depth) (then
      (call $right_tree (i32.sub (local.get $depth) (i32.const 1)))
      (call $right_tree (i32.sub (local.get $depth) (i32.const 1))))))
  (func $right_tree (param $depth i32)
    (if (local.get $depth) (then
      (call $left_tree (i32.sub (local.get $depth) (i32.const 1)))
      (call $left_tree (i32.sub (local.get $depth) (i32.const 1))))))

  ;; A tree whose leaves each move a megabyte.
  (func $fill_tree (param $depth i32)
    (if (local.get $depth) (then
      (call $fill_tree (i32.sub (local.get $depth) (i32.const 1)))
      (call $fill_tree (i32.sub (local.get $depth) (i32.const 1))))
    (else
      (memory.fill (i32.const 1048576) (i32.const 1) (i32.const 1048576))
      (memory.copy (i32.const 2097152) (i32.const 1048576) (i32.const 1048576)))))

  ;; Writes a letter over every @ of a text.
  (func $replace (param $at i32) (param $end i32) (param $letter i32)
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end)) (then
        (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x40)) (then
          (i32.store8 (local.get $at) (local.get $letter))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))))
  (func $letter (param $number i32) (result i32)
    (i32.add (i32.const 0x61) (i32.and (local.get $number) (i32.const 15))))

  (func (export "sy_normalize") (param $report i32) (param $report_len i32) (param $config i32) (param $config_len i32) (result i64)
    (local $do i32)
    (local.set $do (i32.load8_u (i32.add (local.get $config) (i32.const 7))))
    (if (i32.eq (local.get $do) (i32.const 0x65)) (then ;; e: echoes where the report lies, as the letter for @
      (call $replace (local.get $config) (i32.add (local.get $config) (local.get $config_len)) (call $letter (local.get $report)))
      (local.set $do (i32.const 0x61))))
    (if (i32.eq (local.get $do) (i32.const 0x62)) (then ;; b: before the report lies something
      (call $replace (local.get $config) (i32.add (local.get $config) (local.get $config_len))
        (call $letter (i32.load8_u (i32.sub (local.get $report) (i32.const 1)))))
      (local.set $do (i32.const 0x61))))
    (if (i32.eq (local.get $do) (i32.const 0x73)) (then ;; s: scrawls over the report
      (memory.fill (local.get $report) (i32.const 0x78) (local.get $report_len))
      (local.set $do (i32.const 0x61))))
    (if (i32.eq (local.get $do) (i32.const 0x77)) (then ;; w: waits for ever if the report is large
      (if (i32.gt_u (local.get $report_len) (i32.const 262144)) (then (call $spin)))
      (local.set $do (i32.const 0x61))))
    (if (i32.eq (local.get $do) (i32.const 0x61)) (then ;; a: the answer given, which starts at byte 24
      (return (i64.or
        (i64.shl (i64.extend_i32_u (i32.add (local.get $config) (i32.const 24))) (i64.const 32))
        (i64.extend_i32_u (i32.sub (local.get $config_len) (i32.const 25)))))))
    (if (i32.eq (local.get $do) (i32.const 0x6c)) (then (call $spin)))              ;; l: loop
    (if (i32.eq (local.get $do) (i32.const 0x63)) (then (call $call_forever)))      ;; c: loop over calls
    (if (i32.eq (local.get $do) (i32.const 0x72)) (then (drop (call $recurse))))    ;; r: recurse
    (if (i32.eq (local.get $do) (i32.const 0x67)) (then (call $grow_forever)))      ;; g: loop that grows memory
    (if (i32.eq (local.get $do) (i32.const 0x6d)) (then (call $grow_until_denied))) ;; m: trap for want of memory
    (if (i32.eq (local.get $do) (i32.const 0x78)) (then (call $tree (i32.const 64)))) ;; x: exponential calls
    (if (i32.eq (local.get $do) (i32.const 0x69)) (then (call $table_tree (i32.const 64)))) ;; i: indirect exponential calls
    (if (i32.eq (local.get $do) (i32.const 0x6a)) (then (call $left_tree (i32.const 64))))  ;; j: joint exponential calls
    (if (i32.eq (local.get $do) (i32.const 0x66)) (then                             ;; f: fill storm
      (drop (memory.grow (i32.const 64)))
      (call $fill_tree (i32.const 64))))
    (if (i32.eq (local.get $do) (i32.const 0x76)) (then (return (i64.const -1))))   ;; v: vast answer
    (if (i32.eq (local.get $do) (i32.const 0x74)) (then (unreachable)))             ;; t: trap
    (if (i32.eq (local.get $do) (i32.const 0x68)) (then (return (i64.const 0x00000010ffffffff)))) ;; h: huge answer
    (if (i32.eq (local.get $do) (i32.const 0x6f)) (then (return (i64.const 0xffffff0000000064)))) ;; o: outside of memory
    (if (i32.eq (local.get $do) (i32.const 0x6e)) (then (return (i64.const 0))))    ;; n: nothing
    (if (i32.eq (local.get $do) (i32.const 0x7a)) (then                             ;; z: divide by zero
      (return (i64.extend_i32_u (i32.div_u (i32.const 1) (i32.const 0))))))
    (unreachable)))
